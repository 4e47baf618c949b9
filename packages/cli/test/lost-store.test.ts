import assert from "node:assert/strict";
import { readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { endHosts, startHost } from "./headless/host.ts";
import { ended, type Place, place } from "./support/assent.ts";

after(endHosts);

/** Twenty commands that each leave a line; the fifth takes the store away. */
function script(take: string): string {
  const turns = Array.from({ length: 20 }, (_, at) => {
    const command = at === 4 ? take : `echo ${at} >> world`;
    return `  - calls: [{ tool: shell, id: c${at}, input: { command: ${JSON.stringify(command)} } }]\n`;
  });
  return `turns:\n${turns.join("")}  - say: Done.\n`;
}

function worldLines(at: Place): readonly string[] {
  return readFileSync(at.path("world"), "utf8").trim().split("\n");
}

describe("a store that is taken away while it is in use", { concurrency: 2 }, () => {
  const WAYS: readonly (readonly [string, string])[] = [
    ["its database is deleted", 'rm "$STORE/ledger.db"'],
    ["its directory is deleted", 'rm -r "$STORE"'],
    ["its database is moved", 'mv "$STORE/ledger.db" "$STORE/elsewhere"'],
    ["its directory is renamed", 'mv "$STORE" "$STORE.renamed"'],
    ["its database is replaced", 'cp "$STORE/ledger.db" "$STORE/copy" && mv "$STORE/copy" "$STORE/ledger.db"'],
    ["its log is deleted", 'rm "$STORE/ledger.db-wal"'],
  ];
  for (const [title, line] of WAYS) {
    test(`${title}: the run ends with store_lost, and no later command runs`, async () => {
      using at = place();
      at.write("take.sh", line);
      at.write("s.yaml", script("bash take.sh"));
      const argv = ["run", "go", "--model", "script:s.yaml", "--mode", "yolo", "--output-format", "stream-json"];
      const { code, stdout, stderr } = await at.run(argv, { env: { STORE: at.store } });
      const result = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
      assert.deepEqual([code, result.type, result.is_error, result.error?.type], [1, "result", true, "store_lost"], stdout.slice(-2_000));
      assert.match(stderr, /Nothing more will run/);
      assert.deepEqual(worldLines(at), ["0", "1", "2", "3"]);
    });
  }

  test("a follower of the record ends with store_lost", async () => {
    using at = place();
    await at.here(["call", "glob", "--input", '{"pattern":"*"}']);
    const follower = at.start(["log", "--follow"]);
    const seen = ended(follower);
    await new Promise((resolve) => follower.stdout?.once("data", resolve));
    rmSync(at.store, { recursive: true });
    const { code, stderr } = await seen;
    assert.equal(code, 1);
    assert.match(stderr, /ledger\.db was deleted or moved while this process was using it/);
  });

  test("a run that waits for an answer ends with store_lost", async () => {
    using at = place();
    at.write("s.yaml", 'turns:\n  - calls: [{ tool: write, id: c1, input: { file_path: x.txt, content: "one" } }]\n  - say: Done.\n');
    const host = startHost(at, ["run", "--model", "script:s.yaml"]);
    await host.ask("initialize");
    host.say("go");
    await host.next("the request", ({ request }) => request?.subtype === "can_use_tool");
    renameSync(join(at.store, "ledger.db"), join(at.store, "elsewhere"));
    assert.equal(await host.exit(), 1);
    const result = host.lines.findLast(({ type }) => type === "result");
    assert.equal(result?.error?.type, "store_lost", host.stderr());
  });
});

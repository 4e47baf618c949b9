import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { ended, type Place, place, until } from "../../support/assent.ts";

const TURNS = 'turns:\n  - calls: [{ tool: shell, input: { command: "echo once >> x" } }]\n  - say: Finished.\n';

function startRun(at: Place): ReturnType<Place["start"]> {
  const child = at.start(["run", "go", "--watch", "--on-ask", "park", "--model", `script:${at.write("s.yaml", TURNS)}`]);
  child.stdin?.end();
  return child;
}

/** The id of the only open approval. */
async function openApproval(at: Place): Promise<string> {
  let id = "";
  await until("an approval is open", async () => {
    const { value } = await at.hereJson(["approvals"]);
    id = value[0]?.id ?? "";
    return id !== "";
  });
  return id;
}

describe("a run that keeps waiting", () => {
  test("run --watch waits for the answer and then finishes", async () => {
    using at = place();
    const child = startRun(at);
    const over = ended(child);
    await at.here(["approve", await openApproval(at)]);
    const { code, stdout } = await over;
    assert.deepEqual([code, stdout.trim()], [0, "Finished."]);
    assert.equal(readFileSync(at.path("x"), "utf8"), "once\n");
  });

  test("Ctrl-C leaves it parked, and resume --watch waits again", async () => {
    using at = place();
    const child = startRun(at);
    const over = ended(child);
    let said = "";
    child.stderr?.on("data", (text: Buffer) => (said += text));
    const id = await openApproval(at);
    await until("it waits", () => said.includes("Waiting for an answer. See"));
    child.kill("SIGINT");
    assert.equal((await over).code, 75);
    const [{ id: session }] = (await at.hereJson(["sessions"])).value;
    const again = ended(at.start(["resume", session, "--watch"]));
    await at.here(["reject", id, "--reason", "no"]);
    assert.equal((await again).code, 0);
    assert.ok(!existsSync(at.path("x")));
  });

  test("three that watch the same session see one answer: one effect, and all of them end", async () => {
    using at = place();
    assert.equal((await at.here(["run", "go", "--on-ask", "park", "--model", `script:${at.write("s.yaml", TURNS)}`])).code, 75);
    const [{ id: session }] = (await at.hereJson(["sessions"])).value;
    const watching = [1, 2, 3].map(() => ended(at.start(["resume", session, "--watch"])));
    await at.here(["approve", await openApproval(at)]);
    const all = await Promise.all(watching);
    assert.deepEqual(
      all.map(({ code }) => code),
      [0, 0, 0],
      all.map(({ stderr }) => stderr).join(),
    );
    assert.equal(readFileSync(at.path("x"), "utf8"), "once\n");
  });

  test("a session that another process continues and that fails there fails here, too", async () => {
    using at = place();
    const turns = TURNS.replace("say: Finished.", "error: { status: 400, message: broken }");
    assert.equal((await at.here(["run", "go", "--on-ask", "park", "--model", `script:${at.write("s.yaml", turns)}`])).code, 75);
    const [{ id: session }] = (await at.hereJson(["sessions"])).value;
    const watching = [1, 2].map(() => ended(at.start(["resume", session, "--watch"])));
    await at.here(["approve", await openApproval(at)]);
    const all = await Promise.all(watching);
    assert.deepEqual(
      all.map(({ code }) => code),
      [1, 1],
    );
    assert.ok(all.some(({ stderr }) => stderr.includes("Another process continued the session to its end")));
    assert.equal((await at.here(["resume", session, "--watch"])).code, 1);
  });

  const refused = [
    ["no --on-ask", [], /needs '--on-ask park'/],
    ["--on-ask deny", ["--on-ask", "deny"], /needs '--on-ask park'/],
    ["--detach", ["--on-ask", "park", "--detach"], /cannot be used together/],
    [
      "a stream of prompts",
      ["--on-ask", "park", "--input-format", "stream-json", "--output-format", "stream-json"],
      /cannot be used together/,
    ],
  ] as const;
  for (const [name, options, message] of refused)
    test(`--watch is refused with ${name}`, async () => {
      using at = place();
      const { code, stderr } = await at.here(["run", "go", "--watch", ...options, "--model", "script:none.yaml"]);
      assert.equal(code, 2);
      assert.match(stderr, message);
    });
});

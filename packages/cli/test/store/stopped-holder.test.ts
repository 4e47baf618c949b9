import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startPostgres } from "../../../store-postgres/test/postgres-server.ts";
import { place, until } from "../support/assent.ts";

const server = await startPostgres(18);

const FIRST = {
  allowUnused: true,
  turns: [
    { calls: [{ tool: "shell", id: "c1", input: { command: "touch begun; while [ ! -e go ]; do sleep 0.1; done" } }] },
    { calls: [{ tool: "write", id: "c2", input: { file_path: "second.txt", content: "from the old holder\n" } }] },
    { say: "Done." },
  ],
};
const SECOND = { allowUnused: true, turns: [FIRST.turns[0], { say: "Taken over." }] };

test("a process that was stopped for longer than its lease records nothing and changes no file when it wakes, and its call is unknown", {
  timeout: 120_000,
}, async () => {
  using here = place();
  const env = { ASSENT_STORE: server.url("stopped") };
  writeFileSync(join(here.root, "first.json"), JSON.stringify(FIRST));
  writeFileSync(join(here.root, "second.json"), JSON.stringify(SECOND));
  const old = here.start(["run", "go", "--model", "script:../first.json", "--mode", "yolo"], { env });
  old.stdin?.end();
  let said = "";
  old.stderr?.on("data", (text: Buffer) => {
    said += text.toString();
  });
  const ended = new Promise<number | null>((resolve) => {
    old.once("exit", resolve);
  });
  try {
    await until("the call runs", () => existsSync(here.path("begun")));
    old.kill("SIGSTOP");
    const [{ id } = { id: "" }] = (await here.hereJson(["sessions", "--all"], { env })).value;
    const early = await here.here(["resume", id, "--model", "script:../second.json"], { env });
    assert.match(early.stderr, /is in use by pid|in the middle of a call/, "its lease still holds");
    await server.sql("update stopped.leases set held_until = clock_timestamp()"); // as if 15 seconds had passed
    const taken = await here.here(["resume", id, "--model", "script:../second.json"], { env });
    assert.equal(taken.code, 0, taken.stderr);
    const before = (await here.here(["log", id, "--json"], { env })).stdout;
    old.kill("SIGCONT");
    here.write("go", "");
    assert.equal(await ended, 1, said);
    assert.match(said, /another process|taken over|no longer/i);
    assert.ok(!existsSync(here.path("second.txt")), "the old holder did not go on");
    assert.equal((await here.here(["log", id, "--json"], { env })).stdout, before, "and recorded nothing");
    const events: readonly { readonly type: string; readonly body: { readonly outcome?: string } }[] = before
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const outcomes = events.filter(({ type }) => type === "call.ended").map(({ body }) => body.outcome);
    assert.deepEqual(outcomes, ["unknown"]);
    assert.match((await here.here(["verify"], { env })).stdout, /No problems found/);
  } finally {
    old.kill("SIGCONT");
    old.kill("SIGKILL");
  }
});

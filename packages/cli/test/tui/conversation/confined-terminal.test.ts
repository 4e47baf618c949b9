import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { withoutProgram } from "../../../../../test/support/programs.ts";
import { place } from "../../support/assent.ts";
import { converseAbout, record, say } from "../support/conversation.ts";

const shell = (id: string, command: string) => ({ tool: "shell", id, input: { command } });

/** Fails in a sandbox, where no other process is visible. */
const NEEDS_OUTSIDE = `sh -c 'kill -0 ${process.pid} && touch made-outside || { echo Operation not permitted; exit 1; }'`;

test("confined commands are allowed from the card, and one that failed is run again outside", {
  skip: withoutProgram("bwrap"),
}, async () => {
  using at = place();
  const file = join(at.root, ".config/assent/settings.json");
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, '{ "sandbox": "prefer" }', { mode: 0o600 });
  using screen = await converseAbout(at, "begin", {
    ...{ rows: 50, columns: 140 },
    turns: [{ say: "", calls: [shell("c1", "touch made")] }, { say: "", calls: [shell("c2", NEEDS_OUTSIDE)] }, { say: "Done." }],
  });
  await screen.read("Approval needed");
  await screen.until(/c {2}Allow all confined commands/);
  screen.press("c");
  await screen.until(/writes this setting: "allowConfined": true in/);
  screen.press("enter");
  await screen.until("Done.");
  assert.match(screen.lines().join("\n"), /\/outside/);
  assert.deepEqual([existsSync(at.path("made")), existsSync(at.path("made-outside"))], [true, false]);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { sandbox: "prefer", allowConfined: true });
  const [answer] = (await record(at)).filter(({ type }) => type === "approval.answered");
  assert.equal(answer?.body.reason, `Also set "allowConfined": true in ${file}.`);
  await say(screen, "/outside");
  await screen.read("Approval needed");
  await screen.until(/none, it runs with your permissions/);
  screen.press("y");
  await screen.until("> y");
  screen.press("enter");
  await screen.until(/✓ ! sh -c/);
  assert.ok(existsSync(at.path("made-outside")));
});

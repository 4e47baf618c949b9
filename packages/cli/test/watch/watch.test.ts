import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Place, place } from "../support/assent.ts";
import { openScreen, type Screen } from "../tui/support/screen.ts";

const CALLS = [
  { tool: "shell", id: "c1", input: { command: "npm run one" } },
  { tool: "shell", id: "c2", input: { command: "npm run two" } },
  { tool: "write", id: "c3", input: { file_path: "a.txt", content: "hello\n" } },
];

/** A parked run with three calls, and the list of them on a terminal. */
async function watching(at: Place, size: { readonly columns?: number; readonly rows?: number } = {}): Promise<Screen> {
  at.write("s.json", JSON.stringify({ turns: [{ calls: CALLS }, { say: "Done." }] }));
  await at.here(["run", "clean up", "--model", "script:s.json", "--on-ask", "park"]);
  return openScreen({ cwd: at.workspace, env: at.env, args: ["watch", "--by", "Ana"], ...size });
}

async function states(at: Place): Promise<Readonly<Record<string, string>>> {
  const rows: readonly { callId: string; state: string }[] = (await at.hereJson(["approvals", "--all"])).value;
  return Object.fromEntries(rows.map(({ callId, state }) => [callId, state]));
}

const isRestored = { paste: false, cursorHidden: false, isAlternate: false };

describe("assent watch", { concurrency: 2 }, () => {
  test("lists what waits, follows the record, and answers on cards by keyboard", async () => {
    using at = place();
    using screen = await watching(at);
    const list = await screen.until(/^3 waiting/m);
    assert.match(
      list,
      /clean up · Assent · .*\n❯ now +shell {2}npm run one\n +a_\w+ · default · no rule allows it\n {2}now +shell {2}npm run two/,
    );
    screen.press("j");
    await screen.until(/❯ now +shell {2}npm run two/);
    screen.press("y");
    await screen.read("$ npm run two");
    await screen.until("2 of 3 · clean up · Assent · j/k next, previous");
    screen.press("y");
    await screen.until(/^> y /m);
    screen.press("enter");
    await screen.until((now) => now.startsWith("2 waiting") && now.includes("approved. Continue with: assent resume"));
    assert.deepEqual(await states(at), { c1: "open", c2: "approved", c3: "open" });
    screen.type("/a.txt\r");
    await screen.until("1 of 2 waiting match 'a.txt'");
    screen.press("n");
    await screen.read("edit a.txt");
    screen.press("n");
    await screen.until(/^> n /m);
    screen.press("enter");
    await screen.until("▏");
    screen.type("not now\r");
    await screen.until("rejected.");
    assert.equal((await states(at))["c3"], "rejected");
    screen.press("q");
    assert.equal(await screen.exit(), 0);
    assert.deepEqual(screen.modes(), isRestored);
  });

  test("a card whose request someone else answered closes, and the list says who", async () => {
    using at = place();
    using screen = await watching(at, { columns: 160, rows: 50 });
    await screen.until(/^3 waiting/m);
    screen.press("enter");
    await screen.read("$ npm run one");
    screen.press("j");
    await screen.read("$ npm run two");
    const [, { id }] = (await at.hereJson(["approvals"])).value;
    await at.here(["reject", id, "--by", "Ben"]);
    const list = await screen.until(/^2 waiting/m);
    assert.match(list, /was answered before: rejected by Ben/);
    screen.press("escape");
    assert.doesNotMatch(screen.lines().join("\n"), /Approval needed/);
    screen.kill("SIGTERM");
    assert.equal(await screen.exit(), 0);
    assert.deepEqual(screen.modes(), isRestored);
  });

  test("Esc and ctrl+t leave a card without an answer; ? shows the keys", async () => {
    using at = place();
    using screen = await watching(at);
    await screen.until(/^3 waiting/m);
    for (const back of ["escape", "ctrl+t"]) {
      screen.press("enter");
      await screen.read("Approval needed");
      screen.press(back);
      await screen.until(/^3 waiting/m);
    }
    screen.press("?");
    await screen.until("from a card back to the list");
    assert.deepEqual(new Set(Object.values(await states(at))), new Set(["open"]));
  });

  test("without a terminal it says what to use instead", async () => {
    using at = place();
    const { code, stderr } = await at.here(["watch"]);
    assert.deepEqual(
      [code, stderr],
      [2, "assent: 'assent watch' needs a terminal.\nUse 'assent approvals' for a list, or 'assent inbox' for a page.\n"],
    );
  });
});

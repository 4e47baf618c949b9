import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Place, place } from "../../support/assent.ts";
import { converse, endedCalls, record, say } from "../support/conversation.ts";
import type { Screen } from "../support/screen.ts";

const READY = "script:";
const WRITES = { tool: "write", id: "c1", input: { file_path: "x.txt", content: "model's\n" } } as const;
const shell = (id: string, command: string) => ({ tool: "shell", id, input: { command } });

/** The row of a card that says where a fetch goes. What waits is told above before its card stands. */
const addressed = (host: string): RegExp => new RegExp(`^│ https://${host}/$`, "m");

/** An editor that does this to the file it is given. */
function editor(at: Place, script: string): Record<string, string> {
  const file = join(at.root, "editor.sh");
  writeFileSync(file, script);
  return { EDITOR: `sh ${file}` };
}

/** Chooses an answer of the card in front, and confirms it. */
async function choose(screen: Screen, key: string): Promise<void> {
  screen.press(key);
  await screen.until(`> ${key}  `);
  screen.press("enter");
}

async function start(screen: Screen, prompt = "go on then"): Promise<void> {
  await screen.until(READY);
  await say(screen, prompt);
}

describe("a card that is edited first", { concurrency: 2 }, () => {
  test("after the editor the new card is there at once, and keys typed meanwhile are dropped", async () => {
    using at = place();
    const env = editor(at, `sleep 1.6; printf 'mine\\n' > "$1"\n`);
    using screen = converse(at, { env, rows: 40, turns: [{ calls: [WRITES] }, { say: "Done." }] });
    await start(screen);
    await screen.read("+ model's");
    await choose(screen, "e");
    await screen.until("Your editor is open");
    screen.type("zzzy\r");
    const shown = await screen.until("+ mine");
    assert.match(shown, /edited {2}by you, and checked again/);
    assert.equal(existsSync(at.path("x.txt")), false);
    assert.doesNotMatch(await screen.read("+ mine"), /^> [a-z] {2}|zzz|Your editor is open/m);
    await choose(screen, "y");
    await screen.until("ok · approved by you, edited");
    assert.doesNotMatch(await screen.until("◆ Done."), /zzz/);
    assert.equal(readFileSync(at.path("x.txt"), "utf8"), "mine\n");
  });

  test("a command is edited in its card, judged and shown again, and only then runs; the record has both", async () => {
    using at = place();
    const turns = [{ calls: [shell("c1", "touch one.txt")] }, { say: "Done." }];
    using screen = converse(at, { turns, settings: { permissions: { deny: ["Shell(touch secret)"] } } });
    await start(screen);
    await screen.read("$ touch one.txt");
    await choose(screen, "e");
    await screen.until("> touch one.txt▏");
    screen.press("ctrl+w");
    screen.type("secret");
    screen.press("enter");
    await screen.until("would be denied (Shell(touch secret))");
    await screen.until("> touch secret▏");
    await screen.read("touch secret▏");
    screen.press("ctrl+w");
    screen.type("two.txt");
    screen.press("enter");
    await screen.read("the model proposed: touch one.txt");
    assert.match(screen.lines().join("\n"), /\$ touch two\.txt\n[\s\S]*s {2}Always allow this in this session: Shell\(touch two\.txt\)/);
    assert.deepEqual([existsSync(at.path("one.txt")), existsSync(at.path("two.txt"))], [false, false]);
    await choose(screen, "s");
    await screen.until("approved by you, edited, remembered");
    await screen.until("Saved for this session: Shell(touch two.txt). /grants lists it");
    await screen.until("◆ Done.");
    assert.deepEqual([existsSync(at.path("one.txt")), existsSync(at.path("two.txt"))], [false, true]);
    const { content } = (await endedCalls(at)).get("c1") ?? { content: "" };
    assert.match(JSON.stringify(content), /The input was edited before it ran/);
    const answered = (await record(at)).find(({ type }) => type === "approval.answered");
    assert.deepEqual(answered?.body.edited.input, { command: "touch two.txt" });
  });

  test("ctrl+g takes a command to the editor, which may make several lines of it", async () => {
    using at = place();
    const env = editor(at, `printf 'touch a.txt\\ntouch b.txt\\n' > "$1"\n`);
    using screen = converse(at, { env, turns: [{ calls: [shell("c1", "touch one.txt")] }, { say: "Done." }] });
    await start(screen);
    await screen.read("$ touch one.txt");
    await choose(screen, "e");
    await screen.until("> touch one.txt▏");
    screen.press("ctrl+g");
    await screen.read("the model proposed: touch one.txt");
    assert.match(screen.lines().join("\n"), /│ \$ touch a\.txt\n│ touch b\.txt\n/);
    await choose(screen, "y");
    await screen.until("◆ Done.");
    assert.deepEqual(
      ["one.txt", "a.txt", "b.txt"].map((name) => existsSync(at.path(name))),
      [false, true, true],
    );
  });

  test("any other input is edited as JSON; what does not fit is said, and is still there at the next try", async () => {
    using at = place();
    const env = editor(at, `if grep -q broken "$1"; then printf '{"url":"https://two.test/"}' > "$1"; else printf '{broken' > "$1"; fi\n`);
    const fetches = { tool: "fetch", id: "c1", input: { url: "https://one.test/" } };
    using screen = converse(at, { env, rows: 40, turns: [{ calls: [fetches] }, { say: "Done." }] });
    await start(screen);
    await screen.read(addressed("one.test"));
    await choose(screen, "e");
    await screen.read("Invalid input");
    await choose(screen, "e");
    await screen.read(addressed("two.test"));
    assert.doesNotMatch(screen.lines().join("\n"), /\$ .*one\.test/);
    await choose(screen, "n");
    await screen.until("Reason for the model");
    screen.press("enter");
    await screen.until("◆ Done.");
  });

  test("without an editor the card says so; one on PATH is used even if no setting names it", async () => {
    using at = place();
    mkdirSync(join(at.root, "bin"));
    using screen = converse(at, {
      env: { EDITOR: "", PATH: join(at.root, "bin") },
      rows: 40,
      turns: [{ calls: [WRITES] }, { say: "Done." }],
    });
    await start(screen);
    const shown = await screen.read("Approval needed");
    assert.match(shown, /Editing first needs an editor/);
    assert.doesNotMatch(shown, /e {2}Edit first/);
    writeFileSync(join(at.root, "bin", "nano"), `#!/bin/sh\nprintf 'mine\\n' > "$1"\n`, { mode: 0o755 });
    screen.press("n");
    await screen.until("> n");
    screen.press("enter");
    await screen.until("Reason for the model");
    screen.press("enter");
    await screen.until("◆ Done.");
    using again = converse(at, {
      env: { EDITOR: "", PATH: join(at.root, "bin") },
      rows: 40,
      turns: [{ calls: [WRITES] }, { say: "Done." }],
    });
    await start(again);
    await again.read("+ model's");
    await choose(again, "e");
    await again.until("+ mine");
  });

  test("an approval is still by you after resuming; a hidden card says how to show it again", async () => {
    using at = place();
    const turns = [{ calls: [shell("c1", "touch a.txt")] }, { say: "Done." }, { calls: [shell("c2", "touch b.txt")] }, { say: "Twice." }];
    const first = converse(at, { turns });
    await start(first);
    await first.read("$ touch a.txt");
    await choose(first, "y");
    await first.until("◆ Done.");
    first.press("ctrl+d");
    assert.equal(await first.exit(), 0);
    first[Symbol.dispose]();
    const session = (await record(at)).find(({ type }) => type === "session.created")?.session ?? "";
    using again = converse(at, { turns, args: ["resume", session] });
    await again.until("ok · approved by you");
    await start(again, "once more");
    await again.read("$ touch b.txt");
    again.press("ctrl+t");
    await again.until("1 waiting");
    await again.until("ctrl+t shows what waits · esc interrupts");
    again.press("ctrl+t");
    await again.until("$ touch b.txt");
  });
});

/** A model that works, a message behind it, and the first ctrl+c. */
async function interruptWithQueue(screen: ReturnType<typeof converse>): Promise<void> {
  await start(screen);
  await screen.until("working");
  await say(screen, "and then this");
  await screen.until("queued: and then this");
  screen.press("ctrl+c");
}

describe("ctrl+c", { concurrency: 2 }, () => {
  test("interrupts, gives back what was to be said next, and leaves when pressed again", async () => {
    using at = place();
    using screen = converse(at, { turns: [{ say: "First.", delayMs: 60_000 }, { say: "Second." }] });
    await interruptWithQueue(screen);
    await screen.until((now) => now.includes("Interrupted.") && /^ and then this/m.test(now) && !now.includes("queued"));
    assert.equal((await record(at)).filter(({ type }) => type === "message.user").length, 1, "it was not sent");
    screen.press("ctrl+c");
    assert.equal(await screen.exit(), 0);
    assert.equal((await record(at)).filter(({ type }) => type === "message.user").length, 1);
  });

  test("another key in between: the text can be sent, and ctrl+c clears again before it leaves", async () => {
    using at = place();
    using screen = converse(at, { turns: [{ say: "First.", delayMs: 60_000 }, { say: "Second." }] });
    await interruptWithQueue(screen);
    await screen.until(/^ and then this/m);
    screen.type("!");
    await screen.until("and then this!");
    screen.press("enter");
    await screen.until("◆ Second.");
  });
});

describe("files that cannot be shown whole", { concurrency: 2 }, () => {
  for (const [name, bytes] of [
    ["30 MB", Buffer.alloc(30_000_000, "0123456789abcde\n")],
    ["a binary", Buffer.from([0, 1, 2, 255, 254, 0, 27, 91, 50, 74])],
  ] as const) {
    // A call for any other file that was not read fails without a card.
    test(`${name}: its size and all that would be written in its place are shown`, async () => {
      using at = place();
      writeFileSync(at.path("secrets.txt"), bytes);
      using screen = converse(at, {
        rows: 40,
        turns: [{ calls: [{ ...WRITES, input: { ...WRITES.input, file_path: "secrets.txt" } }] }, { say: "Done." }],
      });
      await start(screen);
      const shown = await screen.read("Approval needed");
      assert.ok(shown.includes(`[${bytes.length} bytes, not shown] are replaced by the new content`), shown);
      assert.match(shown, /input {3}content: "model's\\n"/);
      screen.press("n");
      await screen.until("> n");
      screen.press("enter");
      await screen.until("Reason for the model");
      screen.press("enter");
      await screen.until("◆ Done.");
      assert.deepEqual(readFileSync(at.path("secrets.txt")), bytes);
    });
  }
});

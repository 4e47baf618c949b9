import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { place, until } from "../support/assent.ts";
import { afterReading, openPty } from "../support/pty.ts";

const PROMPT = "then Enter: ";
const CALL = ["call", "shell", "--input", '{"command":"echo ran >> x"}'];

describe("assent call on a real terminal", () => {
  test("a person is asked; y and Enter run it once; the terminal is given back", async () => {
    using at = place();
    const screen = openPty(at, CALL);
    await screen.shows("$ echo ran >> x");
    await screen.shows(PROMPT);
    assert.equal((await at.hereJson(["approvals"])).value.length, 1);
    await afterReading();
    screen.pty.write("y\r");
    assert.equal(await screen.end, 0);
    assert.equal(readFileSync(at.path("x"), "utf8"), "ran\n");
    assert.equal((await at.hereJson(["approvals", "--all"])).value[0].state, "approved");
  });

  test("what the person made of it in their editor is shown again, and is what is written", async () => {
    using at = place();
    const editor = at.write("editor.sh", `printf 'mine\\n' > "$1"`);
    const input = JSON.stringify({ file_path: "made.txt", content: "model's\n" });
    const screen = openPty(at, ["call", "write", "--input", input], { rows: 50, env: { EDITOR: `sh ${editor}` } });
    await screen.shows("+model's");
    await screen.reply(PROMPT, "e\r");
    await screen.shows("+mine");
    await screen.shows(PROMPT);
    assert.equal(existsSync(at.path("made.txt")), false, "nothing is written before the yes");
    await afterReading();
    screen.pty.write("y\r");
    assert.equal(await screen.end, 0);
    assert.equal(readFileSync(at.path("made.txt"), "utf8"), "mine\n");
    const { value } = await at.hereJson(["approvals", "--all"]);
    const shown = await at.hereJson(["approvals", "show", value[0].id]);
    assert.deepEqual([shown.value.input.content, shown.value.edited.input.content], ["model's\n", "mine\n"]);
  });

  test("a command is edited in the editor, judged and shown again, and only then runs", async () => {
    using at = place();
    const editor = at.write("editor.sh", `printf 'echo mine > made.txt\\n' > "$1"`);
    const input = JSON.stringify({ command: "touch other.txt" });
    const screen = openPty(at, ["call", "shell", "--input", input], { rows: 50, env: { EDITOR: `sh ${editor}` } });
    await screen.shows("  always allow this in this session: Shell(touch other.txt)");
    await screen.reply(PROMPT, "e\r");
    await screen.shows("$ echo mine > made.txt");
    await screen.shows('"Always allow" is not available: no rule can cover the risks above.');
    await screen.reply(PROMPT, "y\r");
    assert.equal(await screen.end, 0);
    assert.deepEqual([existsSync(at.path("other.txt")), readFileSync(at.path("made.txt"), "utf8")], [false, "mine\n"]);
  });

  test("without an editor the person sees a note and can still answer", async () => {
    using at = place();
    const input = JSON.stringify({ file_path: "made.txt", content: "x" });
    const screen = openPty(at, ["call", "write", "--input", input], { rows: 50, env: { PATH: at.root } });
    await screen.shows("Editing first needs an editor: set VISUAL or EDITOR.");
    await screen.reply(PROMPT, "e\r");
    await screen.shows("'e' is not an answer");
    await screen.reply(PROMPT, "n\r");
    await screen.shows("Reason");
    screen.pty.write("\r");
    assert.equal(await screen.end, 1);
    assert.equal(existsSync(at.path("made.txt")), false);
  });

  test("a terminal that goes away in the middle of a question ends the program; the question stays for later", async () => {
    using at = place();
    const screen = openPty(at, CALL);
    await screen.shows(PROMPT);
    const { pid } = screen.pty;
    screen.pty.kill("SIGHUP");
    await screen.end;
    await until("the program ends", () => !existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z "));
    assert.equal(existsSync(at.path("x")), false);
  });

  test("keys typed without pause while the question appears answer nothing", async () => {
    using at = place();
    const screen = openPty(at, CALL);
    screen.pty.write("yyyy\r a\ry\r");
    await screen.shows(PROMPT);
    screen.pty.write("y\r");
    await afterReading();
    assert.ok(!existsSync(at.path("x")));
    screen.pty.write("n\r");
    await screen.shows("Reason");
    screen.pty.write("too hasty\r");
    assert.equal(await screen.end, 1);
    assert.ok(screen.text().includes("Reason: too hasty"));
    assert.ok(!existsSync(at.path("x")));
  });

  test("Enter alone puts the question again", async () => {
    using at = place();
    const screen = openPty(at, CALL);
    await screen.reply(PROMPT, "\r");
    await screen.reply(PROMPT, "n\r");
    await screen.shows("Reason");
    screen.pty.write("\r");
    assert.equal(await screen.end, 1);
  });

  test("Ctrl-C cancels the call: exit 130, recorded", async () => {
    using at = place();
    const screen = openPty(at, CALL);
    await screen.shows(PROMPT);
    screen.pty.write("\u0003");
    assert.equal(await screen.end, 130);
    assert.equal((await at.hereJson(["sessions"])).value[0].state, "cancelled");
    assert.equal((await at.hereJson(["approvals", "--all"])).value[0].state, "cancelled");
  });

  test("Ctrl-D leaves the approval open for later: exit 75", async () => {
    using at = place();
    const screen = openPty(at, CALL);
    await screen.reply(PROMPT, "\u0004");
    await screen.shows("assent resume s_");
    assert.equal(await screen.end, 75);
    assert.equal((await at.hereJson(["approvals"])).value.length, 1);
  });

  test("an answer from another terminal is shown here, and the call continues", async () => {
    using at = place();
    const screen = openPty(at, CALL);
    await screen.shows(PROMPT);
    const [{ id }] = (await at.hereJson(["approvals"])).value;
    await at.here(["approve", id]);
    await screen.shows("answered or closed elsewhere");
    assert.equal(await screen.end, 0);
    assert.equal(readFileSync(at.path("x"), "utf8"), "ran\n");
  });

  test("always in this session shows its rule first, and is remembered", async () => {
    using at = place();
    const screen = openPty(at, ["call", "shell", "--input", '{"command":"touch x"}']);
    await screen.reply(PROMPT, "u\r");
    await screen.shows("Shell(touch x)");
    await screen.reply("goes back: ", "y\r");
    assert.equal(await screen.end, 0);
    const [grant] = (await at.hereJson(["grants"])).value;
    assert.deepEqual([grant.scope, grant.rule], ["user", "Shell(touch x)"]);
  });

  test("what a command contains reaches the terminal escaped", async () => {
    using at = place();
    const screen = openPty(at, ["call", "shell", "--input", JSON.stringify({ command: "echo \u001b]52;c;eA==\u0007\u202e" })], {
      env: { NO_COLOR: "1" },
    });
    await screen.shows("$ echo \\x1b]52;c;eA==\\x07\\u{202e}");
    await screen.shows(PROMPT);
    assert.ok(!/[^\P{Cc}\r\n]|\u202e/u.test(screen.text()), JSON.stringify(screen.text()));
    screen.pty.write("\u0003");
    assert.equal(await screen.end, 130);
  });

  test("--on-ask asks no one, even on a terminal", async () => {
    using at = place();
    const screen = openPty(at, [...CALL, "--on-ask", "deny"]);
    assert.equal(await screen.end, 1);
    assert.ok(!screen.text().includes(PROMPT));
  });

  test("40×12 and a request longer than the screen: paged, and yes only at its end", async () => {
    using at = place();
    const command = `echo ran >> x\n${Array.from({ length: 30 }, (_, line) => `: line ${line}`).join("\n")}`;
    const screen = openPty(at, ["call", "shell", "--input", JSON.stringify({ command })], {
      columns: 40,
      rows: 12,
      env: { NO_COLOR: "1" },
    });
    for (let page = 0; page < 20 && !screen.text().includes(PROMPT); page++) {
      await until("a page or the question", () => /(Enter shows more, n says no: |then Enter: )$/.test(screen.text()));
      await afterReading();
      if (screen.text().includes(PROMPT)) break;
      assert.ok(!existsSync(at.path("x")));
      const before = screen.text().length;
      screen.pty.write("y\r");
      await until("the next page", () => screen.text().length > before + 20);
    }
    await afterReading();
    screen.pty.write("y\r");
    assert.equal(await screen.end, 0);
    for (let line = 0; line < 30; line++) assert.ok(screen.text().includes(`: line ${line}`));
    assert.equal(readFileSync(at.path("x"), "utf8"), "ran\n");
  });

  test("assent alone on a terminal is the terminal interface", async () => {
    using at = place();
    const screen = openPty(at, []);
    await screen.shows("you decide");
    await screen.shows("Show the demonstration");
    screen.pty.write("\u0004");
    assert.equal(await screen.end, 0);
  });
});

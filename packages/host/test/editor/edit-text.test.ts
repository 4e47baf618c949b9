import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { withoutProgram } from "../../../../test/support/programs.ts";
import { type EditedText, type EditTextOptions, editText } from "../../src/editor/edit-text.ts";
import { createHostProcesses } from "../../src/processes/processes.ts";
import { readProcessTable } from "../../src/processes/table.ts";
import { scratch } from "../scratch.ts";

/** An editor that is a shell script; `$1` is the file it is given, `$LOG` a directory for what it saw. */
function editor(directory: string, script: string): string {
  const path = join(directory, "editor");
  writeFileSync(path, `#!/bin/bash\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** The temporary directory of a test alone, so that what is left behind shows. */
function temporary(t: TestContext): string {
  const directory = join(scratch(t), "tmp");
  mkdirSync(directory);
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = directory;
  t.after(() => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  });
  return directory;
}

type Given = Partial<EditTextOptions> & { readonly script?: string };

async function edit(
  t: TestContext,
  { script = "", ...options }: Given,
): Promise<{ readonly end: EditedText; readonly log: string; readonly left: readonly string[] }> {
  const tmp = temporary(t);
  const log = dirname(tmp);
  const environment = { PATH: process.env["PATH"], EDITOR: editor(log, script), LOG: log };
  const signal = new AbortController().signal;
  const end = await editText({ current: "old\n", proposed: "new\n", extension: ".ts", editor: undefined, environment, signal, ...options });
  return { end, log, left: readdirSync(tmp) };
}

const ENDS: readonly (readonly [name: string, given: Given, end: EditedText])[] = [
  ["what the person wrote comes back", { script: 'echo mine > "$1"' }, { text: "mine\n" }],
  ["nothing changed", { script: "true" }, { text: "new\n" }],
  ["the file deleted is an empty text", { script: 'rm "$1"' }, { text: "" }],
  ["the file put in place of another", { script: 'echo mine > x; mv x "$1"' }, { text: "mine\n" }],
  ["no current text", { current: "", script: 'cat current.ts "$1" > x; mv x "$1"' }, { text: "new\n" }],
  ["a non-zero exit", { script: "exit 3" }, { failure: "editor_failed", message: "The editor ended with exit code 3.", exitCode: 3 }],
  [
    "an end by a signal",
    { script: "kill -9 $$" },
    { failure: "editor_failed", message: "The editor was killed by SIGKILL.", exitCode: null },
  ],
  [
    "an editor that cannot start",
    { editor: "/nonexistent/ed -x" },
    {
      failure: "editor_failed",
      message: "/nonexistent/ed could not be started (ENOENT). Choose another editor with the setting editor, or with VISUAL or EDITOR.",
      exitCode: null,
    },
  ],
  [
    "an editor without a name",
    { editor: "''" },
    {
      failure: "editor_failed",
      message: " could not be started (ERR_INVALID_ARG_VALUE). Choose another editor with the setting editor, or with VISUAL or EDITOR.",
      exitCode: null,
    },
  ],
  [
    "a command with an open quote",
    { editor: "vim 'x" },
    { failure: "editor_failed", message: "The editor command has an unclosed quote: vim 'x", exitCode: null },
  ],
  [
    "no editor",
    { environment: { EDITOR: " ", VISUAL: "" }, editor: "" },
    { failure: "no_editor", message: "No editor is configured. Set EDITOR, or answer without editing." },
  ],
];
for (const [name, given, end] of ENDS) {
  test(`${name}; T128: and nothing is left`, async (t) => {
    const found = await edit(t, given);
    assert.deepEqual([found.end, found.left], [end, []]);
  });
}

test("the settings' editor comes before $VISUAL, and that before $EDITOR; arguments come before the file", async (t) => {
  const directory = scratch(t);
  const named = (name: string): string => `${editor(directory, 'echo "$*" > "$2"')} ${name}`;
  const environment = { PATH: process.env["PATH"] };
  const rows: readonly (readonly [Partial<EditTextOptions>, string])[] = [
    [
      { editor: named("'from settings'"), environment: { ...environment, VISUAL: named("visual"), EDITOR: named("editor") } },
      "from settings",
    ],
    [{ environment: { ...environment, VISUAL: named("visual"), EDITOR: named("editor") } }, "visual"],
    [{ editor: " ", environment: { ...environment, EDITOR: named("editor") } }, "editor"],
  ];
  for (const [options, word] of rows) {
    const end = await editText({
      current: "",
      proposed: "",
      extension: "",
      editor: undefined,
      environment,
      signal: new AbortController().signal,
      ...options,
    });
    assert.match("text" in end ? end.text : end.message, new RegExp(`^${word} /.*/proposed\n$`));
  }
});

test("the files are private, keep the extension, and the editor runs beside them", async (t) => {
  const script = 'stat -c "%a %n" . * > $LOG/seen; pwd >> $LOG/seen; echo "$1" >> $LOG/seen; cat current.* proposed.* > $LOG/texts';
  const { log } = await edit(t, { script });
  const [directory = "", current, proposed, at = "", file] = readFileSync(join(log, "seen"), "utf8").split("\n");
  assert.deepEqual([directory, current, proposed, file], ["700 .", "600 current.ts", "600 proposed.ts", join(at, "proposed.ts")]);
  assert.equal(dirname(at), join(log, "tmp"));
  assert.equal(readFileSync(join(log, "texts"), "utf8"), "old\nnew\n");
});

const EXTENSIONS: readonly (readonly [given: string, name: string])[] = [
  [".ts", "proposed.ts"],
  ["md", "proposed.md"],
  [".d.ts", "proposed.d.ts"],
  ["", "proposed"],
  ["/../../x", "proposed.x"],
  [".a b\n;c", "proposed.abc"],
];
for (const [given, name] of EXTENSIONS) {
  test(`the extension ${JSON.stringify(given)} makes ${name}`, async (t) => {
    const { log } = await edit(t, { extension: given, script: 'basename "$1" > $LOG/seen' });
    assert.equal(readFileSync(join(log, "seen"), "utf8"), `${name}\n`);
  });
}

test("editors at the same moment have directories of their own", async (t) => {
  const tmp = temporary(t);
  const environment = { PATH: process.env["PATH"], EDITOR: editor(dirname(tmp), 'pwd > "$1"') };
  const one = (): Promise<EditedText> =>
    editText({ current: "", proposed: "", extension: "", editor: undefined, environment, signal: new AbortController().signal });
  const ends = await Promise.all(Array.from({ length: 8 }, one));
  assert.equal(new Set(ends.map((end) => ("text" in end ? end.text : ""))).size, 8);
  assert.deepEqual(readdirSync(tmp), []);
});

test("a surface that draws steps aside before, and comes back after", async (t) => {
  const order: string[] = [];
  const { end, log } = await edit(t, {
    script: 'touch $LOG/ran; echo x > "$1"',
    start: async (run) => {
      order.push("aside");
      const ended = await run();
      order.push(`back ${ended.exitCode}`);
      return ended;
    },
  });
  assert.deepEqual([end, order, existsSync(join(log, "ran"))], [{ text: "x\n" }, ["aside", "back 0"], true]);
});

test("a surface that cannot step aside: it rejects, and nothing is left", async (t) => {
  const tmp = temporary(t);
  const start = (): Promise<never> => Promise.reject(new Error("no terminal"));
  const options = {
    current: "",
    proposed: "",
    extension: "",
    editor: "true",
    environment: {},
    signal: new AbortController().signal,
    start,
  };
  await assert.rejects(editText(options), /no terminal/);
  assert.deepEqual(readdirSync(tmp), []);
});

test("a cancel ends the editor and its children even if they ignore signals, and removes the files", async (t) => {
  const tmp = temporary(t);
  const log = dirname(tmp);
  const script = "trap '' TERM; sleep 60 & echo $! > $LOG/child; echo $$ > $LOG/x; mv $LOG/x $LOG/pid; wait; sleep 60";
  const environment = { PATH: process.env["PATH"], EDITOR: editor(log, script), LOG: log };
  const cancel = new AbortController();
  const editing = editText({ current: "", proposed: "", extension: "", editor: undefined, environment, signal: cancel.signal });
  while (!existsSync(join(log, "pid"))) await new Promise((resolve) => setImmediate(resolve));
  cancel.abort(new Error("cancelled"));
  await assert.rejects(editing, /cancelled/);
  const left = ["pid", "child"].map((name) => readProcessTable().find(Number(readFileSync(join(log, name), "utf8")))?.zombie ?? true);
  assert.deepEqual([left, readdirSync(tmp)], [[true, true], []]);
});

test("a cancel before the editor starts: nothing starts, nothing is left", async (t) => {
  const tmp = temporary(t);
  const log = dirname(tmp);
  const environment = { PATH: process.env["PATH"], EDITOR: editor(log, "touch $LOG/ran"), LOG: log };
  const options = { current: "", proposed: "", extension: "", editor: undefined, environment };
  await assert.rejects(editText({ ...options, signal: AbortSignal.abort(new Error("early")) }), /early/);
  const cancel = new AbortController();
  const start: EditTextOptions["start"] = (run) => {
    cancel.abort(new Error("late"));
    return run();
  };
  await assert.rejects(editText({ ...options, signal: cancel.signal, start }), /late/);
  assert.deepEqual([existsSync(join(log, "ran")), readdirSync(tmp)], [false, []]);
});

test("the editor has the terminal of this process, and is in its foreground: only so may it use it", {
  skip: withoutProgram("ps"),
}, async (t) => {
  const check =
    "test -t 0 && test -t 1 && stty raw < /dev/tty && stty sane < /dev/tty && ps -o pgid=,tpgid= -p $$ | awk '{ print $1 == $2 }' > \"$1\"";
  const source = `
    const { editText } = await import("../../src/editor/edit-text.ts");
    const signal = new AbortController().signal;
    const editor = ${JSON.stringify(editor(scratch(t), check))};
    console.log(JSON.stringify(await editText({ current: "", proposed: "", extension: "", editor, environment: process.env, signal })));`;
  const args = ["--conditions=@assent/source", "--input-type=module", "-e", source];
  const spec = {
    file: process.execPath,
    args,
    cwd: import.meta.dirname,
    env: { PATH: process.env["PATH"] ?? "" },
    pty: { columns: 80, rows: 24 },
  };
  const { output } = await createHostProcesses().run({ ...spec, timeoutMs: 60_000 }, new AbortController().signal);
  assert.deepEqual(JSON.parse(output), { text: "1\n" });
});

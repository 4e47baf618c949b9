import type { OpenApproval, OpenQuestion, Question } from "@assent/core";
import { unifiedDiff } from "@assent/core/parts";
import { sampleApproval } from "@assent/core/testing";

/** Something to put on a desk. */
export type Scene = { readonly approval: OpenApproval } | { readonly question: OpenQuestion };

const exec = (command: string, over: Partial<OpenApproval> = {}): Scene => ({
  approval: sampleApproval({
    tool: "shell",
    title: "Run a command",
    input: { command },
    details: { type: "exec", command, rootCommand: command.split(" ")[0] ?? "" },
    suggestions: ["Shell(git push *)"],
    ...over,
  }),
});

function edit(before: string, after: string, name = "src/greet.ts"): Scene {
  const fileDiff = unifiedDiff({ name, before, after });
  return {
    approval: sampleApproval({
      tool: "write",
      title: `Write ${name}`,
      details: { type: "edit", fileName: name, filePath: `/workspace/${name}`, fileDiff, originalContent: before, newContent: after },
      input: { file_path: name, content: after },
      suggestions: [`Write(${name})`],
    }),
  };
}

const ask = (questions: readonly Question[], timeout = 0): Scene => ({
  question: {
    id: "q_sample",
    sessionId: "s_sample",
    callId: "c1",
    questions,
    timeout: () => timeout,
    timer: { restart: () => undefined, stop: () => undefined, onExpired: () => undefined },
  },
});

const DATABASE: Question = {
  id: "db",
  question: "Which database should the service use?",
  header: "Database",
  options: [
    { label: "SQLite", description: "one file, nothing to install", preview: "```\nDATABASE=./app.db\n```" },
    { label: "Postgres", description: "a server of its own" },
  ],
  multi: false,
  recommended: 0,
};
const CHECKS: Question = {
  id: "checks",
  question: "Which checks shall run before a commit?",
  header: "Checks",
  options: ["types", "lint", "unit tests"].map((label) => ({ label })),
  multi: true,
};

const BEFORE = `${["export function greet(name: string): string {", '  return "Hello " + name;', "}", ...Array.from({ length: 20 }, (_, at) => `// line ${at}`), "export const VERSION = 1;"].join("\n")}\n`;
/** The scene `edit`, when all of it is done. */
export const AFTER: string = BEFORE.replace('"Hello " + name', "`Hello, $" + "{name}!`").replace("VERSION = 1", "VERSION = 2");

/** Characters that would move the cursor, write the title or the clipboard, reverse or hide text. */
export const HOSTILE: string = "a\u001b[2Jb\u001b]8;;http://x\u0007c\u001b]52;c;eA==\u0007d\re\bf\u202eg\u2066h\u200bi\u{e0069}j";

/** A command after its preview. */
const PREVIEWED: Scene = exec("sed -i s/color/colour/ src/a.ts src/b.ts && ./generate", {
  suggestions: [],
  details: {
    ...{ type: "exec", command: "sed -i s/color/colour/ src/a.ts src/b.ts && ./generate", rootCommand: "sed" },
    effect: {
      ...{ state: "shown", id: "v_sample", ended: "exit code 0", succeeded: true, durationMs: 120 },
      output: Array.from({ length: 12 }, (_, at) => `generated ${at + 1}`).join("\n"),
      changes: [
        { path: ".envrc", what: "created", runs: "direnv runs it in every shell" },
        { path: "image.png", what: "created", note: "binary, 3000000 bytes, not shown" },
        { path: "old", what: "deleted" },
        { path: "src/a.ts", what: "modified" },
        { path: "src/b.ts", what: "modified", note: "mode 0644 to 0755" },
      ],
      blocks: [
        unifiedDiff({ name: ".envrc", before: null, after: "export A=1\n" }),
        ...["src/a.ts", "src/b.ts"].map((name) => unifiedDiff({ name, before: "const color = 1;\n", after: "const colour = 1;\n" })),
      ],
      notes: ["The network was off.", "Not shown in full: image.png. Writing these changes approves what is not shown."],
    },
  },
});

/** What the tests put on a desk. */
export const SCENES: Readonly<Record<string, Scene>> = {
  effect: PREVIEWED,
  exec: exec("git push origin main", {
    reason: "checker",
    source: "project",
    explicitAsk: false,
    rule: { text: "Shell(git push *)", file: "/workspace/.assent/settings.json", line: 3, because: "it is public" },
  }),
  second: exec("rm -rf build", { id: "a_second", suggestions: ["Shell(rm -rf build)"] }),
  long: exec(`echo start\n${Array.from({ length: 60 }, (_, at) => `echo step ${at + 1}`).join("\n")}`),
  blanks: exec(`ls${" ".repeat(300)}; id`),
  newlines: exec(`ls${"\n".repeat(80)}id`),
  line: exec(`echo ${"x".repeat(20_000)}`),
  edit: edit(BEFORE, AFTER),
  huge: edit(
    Array.from({ length: 100_000 }, (_, at) => `old ${at}\n`).join(""),
    Array.from({ length: 100_000 }, (_, at) => `new ${at}\n`).join(""),
    "huge.txt",
  ),
  crlf: edit("\ufeffone\r\ntwo\r\nthree\r\n", "\ufeffone\r\n2\r\nthree\r\n", "dos.txt"),
  plan: {
    approval: sampleApproval({
      tool: "exit_plan_mode",
      title: "Leave plan mode",
      input: {},
      details: { type: "plan", plan: "# Plan\n\n1. Read the parser\n2. Add the missing case\n3. Test it\n", prePlanMode: "auto-edit" },
    }),
  },
  info: {
    approval: sampleApproval({
      tool: "web_fetch",
      title: "Fetch a page",
      input: { url: "https://example.org/" },
      details: {
        type: "info",
        prompt: "Fetch https://example.org/?",
        urls: ["https://example.org/"],
        warnings: ["It leaves this machine."],
      },
      suggestions: ["WebFetch(domain:example.org)"],
    }),
  },
  hostile: exec(`echo ${HOSTILE}`, {
    title: `Run ${HOSTILE}`,
    tool: `tool${HOSTILE}`,
    cwd: `/work${HOSTILE}`,
    input: { command: `echo ${HOSTILE}`, [`key${HOSTILE}`]: HOSTILE },
    suggestions: [`Shell(${HOSTILE})`],
    agentName: `agent${HOSTILE}`,
  }),
  hostileEdit: edit(`before ${HOSTILE}\n`, `after ${HOSTILE}\n`, `f${HOSTILE}.txt`),
  single: ask([DATABASE]),
  multi: ask([CHECKS]),
  several: ask([DATABASE, CHECKS]),
  countdown: ask([DATABASE], 3_600),
  text: ask([{ id: "name", question: "What shall it be called?", options: [], multi: false }]),
  hostileAsk: ask([
    { ...DATABASE, question: HOSTILE, header: HOSTILE, options: [{ label: HOSTILE, description: HOSTILE, preview: HOSTILE }] },
  ]),
};

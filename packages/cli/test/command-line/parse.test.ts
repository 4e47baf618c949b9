import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { commandTitle } from "../../src/command-line/help.ts";
import { parseCommandLine, wantsJson } from "../../src/command-line/parse.ts";
import { COMMANDS } from "../../src/command-line/table.ts";
import { asFailure } from "../../src/io/failure.ts";

function parsed(...argv: string[]): ReturnType<typeof parseCommandLine> {
  return parseCommandLine(argv, COMMANDS);
}

function refusal(...argv: string[]): { type: string; exit: number; message: string } {
  try {
    parsed(...argv);
  } catch (error) {
    const { type, exit, message } = asFailure(error);
    return { type, exit, message };
  }
  throw new Error(`accepted: ${argv.join(" ")}`);
}

describe("the command line", () => {
  const refused: readonly (readonly [string, readonly string[], string])[] = [
    ["an unknown command names the nearest", ["aprove", "x"], "assent: unknown command 'aprove'. Did you mean 'approve'?"],
    [
      "a word that is near to no command may be something to do",
      ["qqqqqqq"],
      "assent: unknown command 'qqqqqqq'. To ask a model: assent run qqqqqqq, or assent tui qqqqqqq. For all commands: assent --help",
    ],
    [
      "words with a space between them are something to do, however near they are to a command",
      ["run it", "--model", "x"],
      "assent: unknown command 'run it'. To ask a model: assent run 'run it', or assent tui 'run it'. For all commands: assent --help",
    ],
    [
      "a long text is not given back in a command",
      ["fix the failing test ".repeat(9)],
      `assent: unknown command '${"fix the failing test ".repeat(9)}'. To ask a model: assent run PROMPT, or assent tui PROMPT. For all commands: assent --help`,
    ],
    [
      "an unknown option names the nearest",
      ["call", "read", "--on-aks", "park"],
      "assent call: unknown option '--on-aks'. Did you mean '--on-ask'?",
    ],
    [
      "an option of another command is unknown here",
      ["approvals", "--follow"],
      "assent approvals: unknown option '--follow'. See: assent approvals --help",
    ],
    [
      "an unknown short option is named as it was typed",
      ["approvals", "-x"],
      "assent approvals: unknown option '-x'. See: assent approvals --help",
    ],
    [
      "an unknown value names the valid ones and the nearest",
      ["call", "read", "--mode", "yol"],
      "assent call: option '--mode' must be one of default, plan, auto-edit, yolo, not 'yol'. Did you mean 'yolo'?",
    ],
    [
      "a mode in another case is not silently taken",
      ["call", "read", "--mode", "YOLO"],
      "assent call: option '--mode' must be one of default, plan, auto-edit, yolo, not 'YOLO'. Did you mean 'yolo'?",
    ],
    ["an option without its value", ["call", "read", "--mode"], "assent call: option '--mode' needs a value."],
    ["an option whose value looks like an option", ["call", "read", "--store", "--json"], "assent call: option '--store' needs a value."],
    ["a flag with a value", ["approvals", "--json=yes"], "assent approvals: option '--json' takes no value."],
    ["an option given twice", ["call", "read", "--mode", "plan", "--mode", "yolo"], "assent call: option '--mode' may be given only once."],
    ["a limit of 0", ["approvals", "--limit", "0"], "assent approvals: option '--limit' must be an integer from 1 to 1000, not '0'."],
    [
      "a limit above 1,000",
      ["approvals", "--limit", "1001"],
      "assent approvals: option '--limit' must be an integer from 1 to 1000, not '1001'.",
    ],
    [
      "a limit that is not an integer",
      ["approvals", "--limit", "1e2"],
      "assent approvals: option '--limit' must be an integer from 1 to 1000, not '1e2'.",
    ],
    [
      "a duration without a unit",
      ["prune", "--older-than", "30"],
      "assent prune: option '--older-than' must be a duration such as 500ms, 30s, 10m, 2h or 30d, not '30'.",
    ],
    ["a missing operand shows the usage", ["call"], "assent call: TOOL is missing. See: assent tools. Usage: assent call TOOL [options]"],
    [
      "a missing id names the command that lists them",
      ["undo"],
      "assent undo: ID is missing. See: assent proposals --all. Usage: assent undo ID [options]",
    ],
    [
      "so does a missing session",
      ["resume"],
      "assent resume: SESSION is missing. See: assent sessions. Usage: assent resume SESSION [PROMPT] [options]",
    ],
    [
      "a prompt of several words is to be quoted",
      ["run", "two", "words"],
      "assent run: unexpected argument 'words'. Put the whole prompt in quotes. Usage: assent run [PROMPT] [options]",
    ],
    [
      "a command without quotes says how to quote it",
      ["explain", "shell", "npm", "test"],
      "assent explain: unexpected argument 'test'. Put the input in quotes: assent explain shell 'npm test'. Usage: assent explain [TOOL] [INPUT] [options]",
    ],
    [
      "a command instead of its input says how to write it",
      ["call", "shell", "make lint"],
      `assent call: unexpected argument 'make lint'. Give the input as JSON: assent call shell --input '{"command":"make lint"}'. Usage: assent call TOOL [options]`,
    ],
    ["an extra operand is refused", ["undo", "p_1", "p_2"], "assent undo: unexpected argument 'p_2'. Usage: assent undo ID [options]"],
    [
      "a word that only leads to others names them",
      ["policy"],
      "assent policy: choose one of: assent policy check, assent policy diff, assent policy test, assent policy fetch.",
    ],
    ["too few operands", ["policy", "diff", "a"], "assent policy diff: NEW is missing. Usage: assent policy diff OLD NEW [options]"],
    [
      "too many operands",
      ["policy", "diff", "a", "b", "c"],
      "assent policy diff: unexpected argument 'c'. Usage: assent policy diff OLD NEW [options]",
    ],
    [
      "a misspelled operand",
      ["hook", "install", "cluade"],
      "assent hook install: AGENT must be one of claude, codex, gemini, qwen, opencode, not 'cluade'. Did you mean 'claude'?",
    ],
    [
      "an option of which only the beginning is given",
      ["prune", "--older", "3d"],
      "assent prune: unknown option '--older'. Did you mean '--older-than'?",
    ],
    [
      "a short word that only resembles a command",
      ["hi"],
      "assent: unknown command 'hi'. To ask a model: assent run hi, or assent tui hi. For all commands: assent --help",
    ],
    ["an unknown shell", ["completions", "tcsh"], "assent completions: SHELL must be one of bash, zsh, fish, not 'tcsh'."],
    [
      "an option without a command",
      ["--store", "x"],
      "assent: without a terminal, option '--store' needs a command, such as assent run. See: assent --help",
    ],
    ["an unknown option without a command", ["--versio"], "assent: unknown option '--versio'. Did you mean '--version'?"],
  ];
  for (const [name, argv, message] of refused) {
    test(name, () => assert.deepEqual(refusal(...argv), { type: "usage", exit: 2, message }));
  }

  test("text after -- is never an option", () => {
    const line = parsed("call", "--json", "--", "--mode");
    assert.ok(line.ask === "run");
    assert.deepEqual(line.operands, ["--mode"]);
    assert.equal(line.options.flag("json"), true);
  });

  test("options may stand before the command", () => {
    const line = parsed("--store", "/tmp/x", "approvals", "--all");
    assert.ok(line.ask === "run");
    assert.equal(line.command.name, "approvals");
    assert.equal(line.options.text("store"), "/tmp/x");
  });

  test("a command below another is found by both words, and an id is not mistaken for one", () => {
    const show = parsed("approvals", "show", "a_1");
    const plain = parsed("approve", "show");
    assert.ok(show.ask === "run" && plain.ask === "run");
    assert.deepEqual([show.command.name, show.operands], ["approvals show", ["a_1"]]);
    assert.deepEqual([plain.command.name, plain.operands], ["approve", ["show"]]);
  });

  test("an operand that repeats takes as many words as there are, or none", () => {
    for (const words of [[], ["a"], ["a", "b", "c"]]) {
      const line = parsed("policy", "check", ...words);
      assert.deepEqual(line.ask === "run" ? line.operands : undefined, words);
    }
  });

  test("a dash alone is a value, and a value may begin with dashes after =", () => {
    const line = parsed("call", "shell", "--input", "-", "--deny", "a", "--deny=--b");
    assert.ok(line.ask === "run");
    assert.equal(line.options.text("input"), "-");
    assert.deepEqual(line.options.list("deny"), ["a", "--b"]);
  });

  test("help and version are asked for with and without a command", () => {
    assert.deepEqual(parsed("--version"), { ask: "version" });
    assert.deepEqual(parsed("-V"), { ask: "version" });
    assert.deepEqual(parsed(), { ask: "nothing" });
    assert.deepEqual(parsed("-h"), { ask: "help", command: undefined });
    const below = parsed("policy", "--help");
    assert.deepEqual(below.ask === "help" ? below.below?.map(({ name }) => name) : undefined, [
      "policy check",
      "policy diff",
      "policy test",
      "policy fetch",
    ]);
    const help = parsed("approve", "--help", "--nonsense");
    assert.equal(help.ask === "help" ? help.command?.name : undefined, "approve");
  });

  test("--json is recognised on a line that is wrong otherwise, but not after --", () => {
    assert.equal(wantsJson(["call", "--json", "--nope"]), true);
    assert.equal(wantsJson(["call", "--", "--json"]), false);
  });
});

/** Compares a file with its generated text; `npm run generate` writes it. */
function comparePinned(file: string, generate: (text: string) => string): void {
  const expected = generate(readFileSync(file, "utf8"));
  if (process.env["ASSENT_WRITE"] === "1") writeFileSync(file, expected);
  assert.deepEqual(readFileSync(file, "utf8").split("\n"), expected.split("\n"), "If this is intended, run: npm run generate");
}

describe("the table of commands", () => {
  test("the commands and their options are those of commands.txt, and commands that only look are open to tools", () => {
    const surface = COMMANDS.map(({ name, looks, decides, operands, options }) =>
      [
        looks ? `${name} (looks)` : decides ? `${name} (decides)` : name,
        ...operands.map((operand) => operand.name),
        ...options.map((option) => `--${option.name}`),
      ].join(" "),
    );
    comparePinned(join(import.meta.dirname, "commands.txt"), () => `${surface.join("\n")}\n`);
  });

  test("the table in docs/commands.md is made from the commands", () => {
    const rows = COMMANDS.map((command) => {
      const guide = command.guide === undefined ? "" : ` ([guide](${command.guide}))`;
      return `| \`${commandTitle(command)}\` | ${command.summary.replaceAll("|", "\\|")}${guide} |\n`;
    });
    comparePinned(join(import.meta.dirname, "../../../../docs/commands.md"), (text) =>
      text.replace(/(\| command \| what it does \|\n\|---\|---\|\n)(?:\|.*\n)*/, (_, head: string) => `${head}${rows.join("")}`),
    );
  });

  test("a command looks or decides, except for those that a session may run without their loosening options", () => {
    const neither = COMMANDS.filter(({ looks, decides }) => !looks && !decides).map(({ name }) => name);
    assert.deepEqual(
      neither,
      ["run", "call", "resume", "hook", "demo", "trust", "sessions fork", "verify"],
      "Give the command `looks: true` if it only reads, `decides: true` if only a person may use it. Otherwise see own-process.ts.",
    );
  });

  test("help says what --on-ask is where it is not given, and a screen has no flags of programs", () => {
    const onAsk = (name: string): string | undefined =>
      COMMANDS.find((command) => command.name === name)?.options.find((option) => option.name === "on-ask")?.help;
    assert.deepEqual(
      ["run", "call", "resume", "tui"].map((name) => /\(default (.*)\)$/.exec(onAsk(name) ?? "")?.[1]),
      ["deny, or what your settings say", "deny, or what your settings say", "park", undefined],
    );
  });

  test("an option's name takes the same kind of value in every command", () => {
    const kinds = new Map<string, string>();
    for (const { name, takes } of COMMANDS.flatMap(({ options }) => options)) {
      const kind = takes === "nothing" ? "nothing" : "value";
      assert.equal(kinds.get(name) ?? kind, kind, name);
      kinds.set(name, kind);
    }
    assert.ok(kinds.size > 20);
  });
});

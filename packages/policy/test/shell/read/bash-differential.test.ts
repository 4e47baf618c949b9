import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LONG } from "../../../../../test/support/long.ts";
import { matchReaders } from "../../../src/shell/read/agree.ts";
import type { PlainCommand, PlainRedirection } from "../../../src/shell/read/strict-reader.ts";
import { readPlain } from "../../../src/shell/read/strict-reader.ts";
import { walkBash } from "../../../src/shell/walk/walk.ts";
import { scratch } from "../../scratch.ts";

const SEED = Number(process.env["ASSENT_SEED"] ?? 1);
const LINES = LONG ? 100_000 : 3_000;
const BATCH = 1_000;

/** What a line may be made of: words, quotes, escapes, operators, redirections, comments, continuations, and what must be refused. */
const TOKENS: readonly (readonly [weight: number, tokens: readonly string[]])[] = [
  [40, "a b fa fb ls -x --y=z x.y n@m p+q c,d u_v 1 2 12 % %s ^ ^h = =e k=v : t: HEAD -".split(" ")],
  [30, [" ", " ", " ", " ", "  ", "\t", " \t "]],
  [24, ["; ", " ;", "&&", " && ", "||", " || ", "|", " | ", " | ", "\n", "\n\n", "&&\n", "|\n", "||\n "]],
  [10, ["'q r'", "''", "'\n'", "'\\'", "'#'", "'\"'", "'$x'", "'*'", "'a;b'", "'%PATH%'"]],
  [10, ['"q r"', '""', '"\\""', '"\\\\"', '"\\$x"', '"\\`"', '"\\n"', '"\'"', '"#"', '"a\nb"', '"\\a"', '"*"', '"~"']],
  [8, ["\\ ", "\\a", "\\\\", "\\;", "\\'", '\\"', "\\#", "\\$", "\\*", "\\|", "\\&", "\\>", "\\~", "\\=", "\\!", "\\(", "\\\t"]],
  [6, [" \\\n", " \\\n ", "\\\n", " \\\n\\\n", "\\"]],
  [
    8,
    [
      " 2>&1",
      " 1>&2",
      " >/dev/null",
      " 2> /dev/null",
      " </dev/null",
      " 1> /dev/null",
      " 2>&1 ",
      " > /dev/null ",
      "2>&1",
      ">/dev/null",
      " 2>&1\\\n",
    ],
  ],
  [5, [" #", "#", " # c", " # 'c\n", "#c\n", " #;a\n", " # \\\n"]],
  [4, ["~", "a~b", "HEAD~1", "/~", "=~", ":~", ".~", " k=~ ", " k=~/x ", " k=a:~ "]],
  [3, ["*", "?", "a*", "./", "/", "..", "x/y"]],
  [3, `$ $x \${x $(a) \`a\` $'a' $"a" ! ( ) { } [ ] {a,b} [a] < > >x & >> << <(a) &> ;; |&`.split(" ")],
  [2, "if then fi time do in ! { } function [[ eval exec set A=1 A+=1 export cd .".split(" ")],
];

/** A small generator of numbers that a seed decides. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Each group of tokens as often as its weight says. */
const WEIGHTED = TOKENS.flatMap(([weight, tokens]) => Array.from({ length: weight }, () => tokens));

function lineOf(next: () => number): string {
  const pick = <One>(from: readonly One[]): One => from[Math.floor(next() * from.length)]!;
  return Array.from({ length: 1 + Math.floor(next() * 14) }, () => pick(pick(WEIGHTED))).join("");
}

type Sample = { readonly text: string; readonly commands: readonly PlainCommand[] };

/** Lines that the strict reader accepts and whose commands bash can be made to show: no pattern, no program by its path, no builtin. */
function samples(next: () => number): { readonly accepted: readonly Sample[]; readonly tried: number } {
  const accepted: Sample[] = [];
  let tried = 0;
  while (accepted.length < LINES) {
    const text = lineOf(next);
    tried++;
    const reading = readPlain(text);
    if ("commands" in reading && reading.commands.every(isShowable)) accepted.push({ text, commands: reading.commands });
  }
  return { accepted, tried };
}

const BUILTINS = ["test", "echo", "printf", "true", "false", "pwd", "kill", "cd", "help", "[", ":"];

function isShowable({ words }: PlainCommand): boolean {
  const [name] = words;
  return !name.text.includes("/") && !BUILTINS.includes(name.text) && words.every(({ glob }) => !glob);
}

/**
 * Bash finds no program at all, so each command it would run is told to this function: where its input and outputs lead (`0`, `1`, `2`: nowhere; `=`: both outputs to
 * the same place) and its words. A command whose name starts with f fails.
 */
const TELL = `
command_not_found_handle() {
  local leads=
  [[ /dev/fd/0 -ef /dev/null ]] && leads+=0
  [[ /dev/fd/1 -ef /dev/null ]] && leads+=1
  [[ /dev/fd/2 -ef /dev/null ]] && leads+=2
  [[ /dev/fd/1 -ef /dev/fd/2 ]] && leads+==
  local IFS=$'\\2' words
  words="$*"
  printf '%s\\n' "$i$IFS$leads$IFS\${words//$'\\n'/$'\\1'}" >&3
  [[ $1 != f* ]]
}
mapfile -d '' lines < "$1"
for i in "\${!lines[@]}"; do
  ( eval "\${lines[i]}" ) <"$2/in" >>"$2/out" 2>>"$2/err"
  printf '%s\\2end\\2%s\\n' "$i" "$?" >&3
done
`;

/** For each line: the commands bash ran, and with which status it ended. */
type Ran = { readonly commands: readonly string[]; readonly status: string };

async function runInBash(directory: string, lines: readonly Sample[]): Promise<readonly Ran[]> {
  const empty = join(directory, "empty");
  mkdirSync(empty, { recursive: true });
  for (const file of ["in", "out", "err"]) writeFileSync(join(directory, file), "x");
  writeFileSync(join(directory, "lines"), lines.map(({ text }) => `${text}\0`).join(""));
  writeFileSync(join(directory, "tell.sh"), TELL);
  const told = await new Promise<string>((resolve, reject) => {
    const bash = spawn("/bin/bash", ["--noprofile", "--norc", join(directory, "tell.sh"), join(directory, "lines"), directory], {
      cwd: empty,
      env: { PATH: empty },
      stdio: ["ignore", "ignore", "inherit", "pipe"],
    });
    const chunks: Buffer[] = [];
    bash.stdio[3]?.on("data", (chunk: Buffer) => chunks.push(chunk));
    bash.on("error", reject);
    bash.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  });
  assert.deepEqual(readdirSync(empty), [], "a line wrote a file");
  return recordsOf(told, lines.length);
}

function recordsOf(told: string, count: number): readonly Ran[] {
  const ran = Array.from({ length: count }, () => ({ commands: [] as string[], status: "" }));
  for (const record of told.split("\n").slice(0, -1)) {
    const [index, leads, ...words] = record.replaceAll("\x01", "\n").split("\x02");
    if (leads === "end") ran[Number(index)]!.status = words[0]!;
    else ran[Number(index)]!.commands.push(JSON.stringify([leads, ...words]));
  }
  return ran.map(({ commands, status }) => ({ commands: commands.toSorted(), status }));
}

/** What the reading says bash will run: pipelines joined by their status. */
function expected({ commands }: Sample): Ran {
  const ran: string[] = [];
  let status = 0;
  let skipping = false;
  commands.forEach((command, i) => {
    if (command.join === ";" || command.join === "start") skipping = false;
    if (command.join === "&&") skipping = status !== 0;
    if (command.join === "||") skipping = status === 0;
    if (skipping) return;
    if (command.input !== undefined) {
      status = 1; // there is no such file, so bash does not start the command
      return;
    }
    ran.push(JSON.stringify([leadsOf(command, commands[i + 1]), ...command.words.map(({ text }) => text)]));
    status = command.words[0].text.startsWith("f") ? 1 : 0;
  });
  return { commands: ran.toSorted(), status: String(status) };
}

type Leads = { readonly input: string; readonly out: string; readonly err: string };

const REDIRECTED: Readonly<Record<PlainRedirection, (leads: Leads) => Leads>> = {
  "2>&1": (leads) => ({ ...leads, err: leads.out }),
  "1>&2": (leads) => ({ ...leads, out: leads.err }),
  ">/dev/null": (leads) => ({ ...leads, out: "null" }),
  "2>/dev/null": (leads) => ({ ...leads, err: "null" }),
  "</dev/null": (leads) => ({ ...leads, input: "null" }),
};

function leadsOf({ join: joined, redirections }: PlainCommand, after: PlainCommand | undefined): string {
  const start: Leads = { input: joined === "|" ? "pipe" : "in", out: after?.join === "|" ? "pipe" : "out", err: "err" };
  const { input, out, err } = redirections.reduce((leads, redirection) => REDIRECTED[redirection](leads), start);
  const nowhere = [input, out, err].map((place, fd) => (place === "null" ? String(fd) : "")).join("");
  return `${nowhere}${out === err ? "=" : ""}`;
}

async function differencesFrom(t: TestContext, lines: readonly Sample[]): Promise<readonly string[]> {
  const batches = Array.from({ length: Math.ceil(lines.length / BATCH) }, (_, i) => lines.slice(i * BATCH, (i + 1) * BATCH));
  const differences: string[] = [];
  for (let i = 0; i < batches.length; i += 2) {
    const pair = batches.slice(i, i + 2);
    const results = await Promise.all(pair.map((batch) => runInBash(scratch(t), batch)));
    pair.forEach((batch, b) => {
      batch.forEach((sample, at) => {
        const [was, will] = [results[b]![at], expected(sample)];
        if (JSON.stringify(was) !== JSON.stringify(will))
          differences.push(`${JSON.stringify(sample.text)}\n  bash:   ${JSON.stringify(was)}\n  reader: ${JSON.stringify(will)}`);
      });
    });
  }
  return differences;
}

test(`bash runs what the strict reader reads: the same words, joined and redirected the same way, in ${LINES} lines (ASSENT_SEED=${SEED})`, {
  timeout: 1_200_000,
}, async (t) => {
  const { accepted, tried } = samples(random(SEED));
  t.diagnostic(
    `${tried} lines were tried; ${accepted.filter(({ commands }) => commands.length > 1).length} of those accepted hold several commands`,
  );
  const differences = await differencesFrom(t, accepted);
  assert.deepEqual(differences.slice(0, 5).join("\n"), "", `${differences.length} differences; ASSENT_SEED=${SEED}`);
});

test(`the other reader agrees on nearly all of what the strict reader accepts (ASSENT_SEED=${SEED})`, (t) => {
  const { accepted } = samples(random(SEED));
  const differing = accepted.filter(({ text, commands }) => matchReaders(commands, walkBash(text)) === undefined);
  t.diagnostic(
    `${differing.length} of ${accepted.length} are read differently, so they ask: ${differing
      .slice(0, 3)
      .map(({ text }) => JSON.stringify(text))
      .join(" ")}`,
  );
  assert.ok(differing.length < accepted.length / 20, `${differing.length} of ${accepted.length}`);
});

test("the comparison finds a wrong reading", async (t) => {
  const reading = readPlain("a b && fa; b 2>&1");
  assert.ok("commands" in reading);
  const [first, ...rest] = reading.commands;
  const wrong: Sample = {
    text: "a b && fa; b 2>&1",
    commands: [{ ...first!, words: [first!.words[0], { text: "c", glob: false }] }, ...rest],
  };
  const unjoined: Sample = {
    text: "fa && b",
    commands: [
      { ...first!, words: [{ text: "fa", glob: false }] },
      { ...rest[1]!, redirections: [], words: [{ text: "b", glob: false }] },
    ],
  };
  assert.equal((await differencesFrom(t, [wrong, { ...wrong, commands: reading.commands }, unjoined])).length, 2);
});

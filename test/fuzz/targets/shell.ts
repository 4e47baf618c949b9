import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Judge, shellScene } from "../../safety/shell-scene.ts";
import { lines, tokens } from "../mutate.ts";
import type { Random } from "../random.ts";
import { holds, type Target } from "../target.ts";

/** Commands that a rule or a guard denies, as their words. */
const DENIED: readonly (readonly [string, ...string[]])[] = [
  ["curl", "https://example.test"],
  ["git", "push", "origin", "main"],
  ["git", "-c", "a.b=c", "--no-pager", "push"],
  ["npm", "publish"],
  ["sudo", "ls"],
  ["rm", "-rf", "/"],
  ["rm", "--recursive", "/home/.."],
];
const DENIES = ["Shell(curl)", "Shell(git push)", "Shell(npm publish)", "Shell(sudo)"];

const WORDS = [
  ..."ls cat git push curl sudo rm -rf / echo true bash sh -c eval exec env command builtin timeout 5 nice xargs find -exec ; && || | & > >> < 2>&1 <<E E <<< ( ) { } (( )) [[ ]] ! if then fi for in do done while case esac function f() coproc time trap EXIT alias a= A=b export declare -i read $x $IFS $(curl x) `curl x` $((1)) $'\\x63' \\ ' \" # * ? [a] {a,b} ~ -- .env .git/config ../x /dev/null /dev/tcp/h/80 ! %1 $_ $@ BASH_ENV= PATH=.".split(
    " ",
  ),
  ...["IFS", "x:-y", "x@P", "a[0]"].map((inner) => `\${${inner}}`),
  "\n",
  "\\\n",
  " ",
  "\t",
  "\r",
];

type Case = { readonly denied?: string; readonly text: string };

/** The judgement of shell lines. An input is a line, or `{denied, text, alike}`: two lines that bash runs alike, the first of them denied. */
export function shell(): Target {
  const scene = shellScene();
  const open = (["default", "plan", "auto-edit", "yolo"] as const).map((mode) =>
    scene.judge({ mode, permissions: { allow: ["*", "Shell"], deny: DENIES } }),
  );
  const judges = { open, read: scene.judge({}) };
  return {
    name: "shell",
    iterations: 300,
    seeds: vectors(),
    mutators: [tokens(WORDS), tokens(WORDS), lines()],
    build: (random) => {
      const pair = built(random);
      return JSON.stringify({ ...pair, alike: digestOf(pair) });
    },
    check: (input) => check(judges, caseOf(input.toString("utf8"))),
    [Symbol.dispose]: () => scene[Symbol.dispose](),
  };
}

function vectors(): readonly string[] {
  const rows: readonly { readonly command: string }[] = JSON.parse(
    readFileSync(join(import.meta.dirname, "../../corpus/shell.json"), "utf8"),
  );
  return rows.map(({ command }) => command);
}

/** Two lines stay alike only while nobody changes them: the digest tells. */
function digestOf({ denied = "", text }: Case): string {
  return createHash("sha256").update(`${denied}\0${text}`).digest("hex").slice(0, 12);
}

function caseOf(text: string): Case {
  if (!text.startsWith("{")) return { text };
  try {
    const { alike, ...pair } = JSON.parse(text);
    return alike === digestOf(pair) ? pair : { text };
  } catch {
    return { text };
  }
}

type Judges = { readonly open: readonly Judge[]; readonly read: Judge };

function check({ open, read }: Judges, { denied, text }: Case): void {
  for (const judge of [...open, read]) {
    const judged = judge(text);
    holds("the same line is judged alike", JSON.stringify(judge(text)) === JSON.stringify(judged), () => JSON.stringify(text));
    const commands = judged.plan?.commands ?? [];
    holds(
      "a line has no more commands than characters, five times over",
      commands.length <= 5 * text.length,
      () => `${commands.length}: ${text}`,
    );
  }
  const judged = read(text);
  if (judged.verdict === "allow") onlyReads(judged, text);
  if (denied === undefined) wrappedStaysDenied(open, text);
  else for (const judge of open) if (isDenied(judge(denied))) staysDenied(judge(text).verdict, { denied, text });
}

/** For what it does, and not because it is no line at all. */
function isDenied({ verdict, source }: ReturnType<Judge>): boolean {
  return verdict === "deny" && source !== "malformed-command";
}

/** What the read-only hint lets pass starts programs that read, joined as a plan can, and writes nowhere. */
function onlyReads({ plan, reason }: ReturnType<Judge>, text: string): void {
  const shown = (): string => `${reason}: ${JSON.stringify(text)}`;
  holds("what only reads has a plan", plan !== undefined && plan.shape !== "text" && plan.modelled && plan.hazards.length === 0, shown);
  for (const command of plan.commands) {
    holds("what only reads is made of reading commands", command.class === "read" && command.hazards.length === 0, shown);
    holds("what only reads knows all its words", command.argv.every(({ dynamic }) => !dynamic) && command.assignments.length === 0, shown);
    holds(
      "what only reads has no path to write",
      command.operands.every(({ use }) => use === "read"),
      shown,
    );
    const harmless = command.redirections.every(({ op, target }) => target === "/dev/null" || (op === ">&" && /^[12]$/.test(target)));
    holds("what only reads writes to no file", harmless, shown);
  }
}

function staysDenied(verdict: string, { denied, text }: Case): void {
  holds(
    "what bash runs like a denied line is not allowed",
    verdict !== "allow" || !(bashReads(text) && bashReads(denied ?? "")),
    () => `${JSON.stringify(denied)} is denied, ${JSON.stringify(text)} is allowed`,
  );
}

/** Only asked where something was found: bash does not run what it cannot read. */
function bashReads(text: string): boolean {
  return !text.includes("\0") && spawnSync("bash", ["-n"], { input: text, encoding: "utf8" }).status === 0;
}

/** Around any line that is denied, whatever it is made of. */
const AROUND: readonly ((line: string) => string)[] = [
  (line) => `(${line}\n)`,
  (line) => `{ ${line}\n}`,
  (line) => `true && { ${line}\n}`,
  (line) => `bash -c ${quoted(line)}`,
  (line) => `X=1; ${line}`,
  (line) => `# nothing\n${line}`,
  (line) => `eval ${quoted(line)}`,
  (line) => `for i in 1; do ${line}\ndone`,
];

function wrappedStaysDenied(open: readonly Judge[], denied: string): void {
  for (const judge of open) {
    if (!isDenied(judge(denied))) continue;
    for (const around of AROUND) {
      const text = around(denied);
      staysDenied(judge(text).verdict, { denied, text });
    }
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Another way to write a word. */
const SPELLINGS: readonly ((part: string) => string)[] = [
  (part) => part,
  (part) => `'${part}'`,
  (part) => `"${part}"`,
  (part) => part.replace(/./g, "\\$&"),
  (part) => `\\\n${part}`,
  (part) => `''${part}""`,
  (part) => `$'${[...part].map((one) => `\\x${one.charCodeAt(0).toString(16)}`).join("")}'`,
  (part) => `$'${[...part].map((one) => `\\${one.charCodeAt(0).toString(8).padStart(3, "0")}`).join("")}'`,
  (part) => `$"${part}"`,
  (part) => `"\\\n${part}"`,
];

/** Ways that only a shell can read; a line in which every word is written so is in doubt where its name is, and nowhere else. */
const OPAQUE: typeof SPELLINGS = [
  ...SPELLINGS,
  (part) => `\${none:-${part}}`,
  (part) => `$(printf %s ${part})`,
  (part) => `\`printf %s ${part}\``,
];

function spelled(word: string, random: Random, ways: typeof SPELLINGS): string {
  let text = "";
  for (let at = 0; at < word.length; ) {
    const length = 1 + random.below(4);
    text += random.pick(ways)(word.slice(at, at + length));
    at += length;
  }
  return text;
}

const BLANKS = [" ", "  ", "\t", " \\\n", " \\\n\t", " "];
/** Blanks that only an expansion makes. */
const EXPANDED = ["$IFS", ...["IFS", "IFS%??"].map((inner) => `\${${inner}}`)];

const PREFIXES = [
  "",
  "",
  "A=b ",
  "A= B=c ",
  "command ",
  "exec ",
  "env ",
  "env -u X A=b ",
  "nohup ",
  "timeout 5 ",
  "nice -n 5 ",
  "\\\n",
  "! ",
  "time ",
  "builtin command ",
  "xargs -r ",
  "2>/dev/null ",
  "</dev/null ",
];
const SUFFIXES = ["", "", " # fine", " #\n", ";", " &", "\n", " 2>&1", " >/dev/null", " | cat", " || true", " ;:"];
const WRAPS: readonly ((line: string) => string)[] = [
  ...AROUND,
  (line) => `sh -c ${quoted(line)}`,
  (line) => `/bin/sh -ec ${quoted(line)}`,
  (line) => `bash <<'END'\n${line}\nEND\n`,
  (line) => `bash <<< ${quoted(line)}`,
  (line) => `echo ${quoted(line)} | sh`,
  (line) => `echo $(${line}\n)`,
  (line) => `x=$(${line}\n)`,
  (line) => `cat <(${line}\n)`,
  (line) => `f() { ${line}\n}; f`,
  (line) => `trap ${quoted(line)} EXIT`,
  (line) => `case x in x) ${line}\n;; esac`,
  (line) => `if :; then ${line}\nfi`,
  (line) => `: \${x:=$(${line}\n)}`,
  (line) => `ls; (cd src; ${line}\n)`,
];

function built(random: Random): Case {
  const words = random.pick(DENIED);
  const prefix = random.pick(PREFIXES);
  const opaque = random.below(words.length);
  const blank = random.chance(0.15) ? random.pick(EXPANDED) : random.pick(BLANKS);
  const written = words.map((word, at) => (random.chance(0.7) ? spelled(word, random, at === opaque ? OPAQUE : SPELLINGS) : word));
  let text = prefix + written.join(blank) + random.pick(SUFFIXES);
  for (let depth = random.below(4); depth > 0; depth -= 1) text = random.pick(WRAPS)(text);
  return { denied: words.join(" "), text };
}

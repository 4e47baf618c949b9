import { foldPath } from "../paths/fold.ts";
import { programName } from "../shell/effects/write-targets.ts";
import { isAssentProgram } from "../shell/plan/find-program.ts";
import type { ShellUnit } from "../shell/plan/shell-unit.ts";

/** A command of Assent. Without `looks` it may change the record. */
export type OwnCommand = { readonly name: string; readonly looks?: true };

/** True if a command is Assent itself and may change the record. */
export function changesRecord({ seen }: ShellUnit, commands: readonly OwnCommand[]): boolean {
  if (!seen) return false;
  const program = programName(seen);
  const most = RUNS_SCRIPTS.has(program) ? SCRIPT_WORDS : 1;
  const own = seen.argv.findIndex(({ text }, at) => at < most && isAssent(text, at === 0));
  if (own === -1) return RUNS_COMMANDS.has(program) && mentionsAnswer(seen.argv.map(({ text }) => text).join(" "));
  const [command, ...words] = seen.argv.slice(own + 1).flatMap(({ text }) => (text.startsWith("-") ? [] : [text]));
  if (command === undefined) return seen.openEnd;
  return mayAct(command, words, commands) || (seen.openEnd && hasActingSubcommand(command, commands));
}

/** Programs that start a command named in their arguments, their input or a file, elsewhere or later. */
const RUNS_COMMANDS: ReadonlySet<string> = new Set([
  ...["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "deno", "corepack", "volta", "mise", "asdf", "fnm", "nvm"],
  ...["ssh", "docker", "podman", "kubectl", "nsenter", "make", "just", "alias", "trap", "at", "batch", "crontab", "osascript", "xdotool"],
]);

const BETWEEN_WORDS = /["'\s,\])}]+/;
const ASSENT = /(?:(?:^|[^\w.-])assent|@assent\/cli)(?:\.js)?(?:@[\w.^~-]+)?$/;
const ANSWERS = /^(?:approve|reject|apply|discard|trust)(?![\w-])/;
const ANSWERS_OF_TWO_WORDS =
  /^(?:grants (?:promote|revoke)|stats store|(?:hook|mcp) (?:un)?install|mcp (?:add|remove)|store (?:copy|migrate))(?![\w-])/;

/** True if a text has the words of a command of Assent that answers, trusts or changes the guard. Options may stand before the command, each with a value. */
export function mentionsAnswer(text: string): boolean {
  const words = text.split(BETWEEN_WORDS);
  let before: "another word" | "assent" | "an option" = "another word";
  for (const [at, word] of words.entries()) {
    if (before !== "another word") {
      if (ANSWERS.test(word) || ANSWERS_OF_TWO_WORDS.test(`${word} ${words[at + 1] ?? ""}`)) return true;
      before = word.startsWith("-") ? "an option" : before === "an option" ? "assent" : "another word";
    }
    if (ASSENT.test(word)) before = "assent";
  }
  return false;
}

/** Files from which such a program takes commands without being told so. */
const COMMAND_FILES: readonly (readonly [programs: RegExp, files: readonly string[]])[] = [
  [/^(?:npm|pnpm|yarn|bun|node|corepack)$/, ["package.json"]],
  [/^g?make$/, ["GNUmakefile", "makefile", "Makefile"]],
  [/^just$/, ["justfile", "Justfile", ".justfile"]],
];
const TAKES_FILES = /^(?:tmux|screen|expect|script|vim?|ex|ed|emacs|sed|sqlite3)$/;

/** Files other than scripts of an interpreter whose text a command may run, such as a Makefile. */
export function commandFiles({ seen, command }: ShellUnit): readonly string[] {
  if (!seen) return [];
  const program = programName(seen);
  const usual = COMMAND_FILES.flatMap(([programs, files]) => (programs.test(program) ? files : []));
  if (!RUNS_COMMANDS.has(program) && !TAKES_FILES.test(program)) return usual;
  const words = seen.argv.slice(1).flatMap(({ text }) => [text, text.replace(/^-\w|^--[\w-]+=/, "")]);
  const given = command?.redirections.filter(({ op }) => op === "<").map(({ target }) => target) ?? [];
  return [...usual, ...words, ...given].filter((word) => word !== "" && !/[\0\n]/.test(word));
}

/** True if a text names what guards other agents: the hook's wrapper, its processes, or variables that choose another record. */
export function mentionsGuard(text: string): boolean {
  const stops = hasInOrder(text, /\b(?:kill|pkill|killall|gdb|strace|ptrace)\b/, /\bassent\b/);
  return stops || mentionsAnswer(text) || /\bassent-hook\b|\bASSENT_[A-Z]/.test(text);
}

/** True if a command starts an agent without its hooks, or changes the agent's configuration. */
export function skipsHooks({ seen, line }: ShellUnit): boolean {
  if (!seen) return false;
  const program = programName(seen);
  const words = seen.argv.map(({ text }) => text).join(" ");
  const isAgent = AGENT.test(program) || (RUNS_COMMANDS.has(program) && /\b(?:claude|codex|gemini|qwen|opencode)\b/.test(words));
  return isAgent && (SKIPS_HOOKS.test(words) || OTHER_CONFIGURATION.test(line.text));
}

/** True if a script or a file of commands does so. */
export function mentionsUnguardedAgent(text: string): boolean {
  const named = text.search(/(?:^|[^\w.-])(?:claude|codex|gemini|qwen|opencode)\b/);
  return named !== -1 && (SKIPS_HOOKS.test(text.slice(named)) || OTHER_CONFIGURATION.test(text));
}

const AGENT = /^(?:claude|codex|gemini|qwen|opencode)$/;
const SKIPS_HOOKS = new RegExp(
  [
    "--(?:bare|safe-mode|pure|settings|setting-sources|dangerously-bypass-hook-trust|ignore-user-config|plugin-dir|mcp-config|agents|profile)(?![\\w-])",
    "disableAllHooks|features\\.hooks|hooksConfig| (?:hooks?|config|plugins?|extensions?|mcp) ",
  ].join("|"),
);
const OTHER_CONFIGURATION =
  /\b(?:CLAUDE_CONFIG_DIR|CODEX_HOME|QWEN_HOME|OPENCODE_CONFIG\w*|XDG_CONFIG_HOME|HOME|GEMINI_CLI_(?:HOME|SYSTEM_\w+)|(?:CLAUDE|QWEN)_CODE_(?:SAFE_MODE|SIMPLE|SYSTEM_\w+))=/;

/** True if a command may end or stop the hook or its shell, which most agents count as no opinion. */
export function mayStopHook({ seen }: ShellUnit): boolean {
  if (!seen) return false;
  const words = seen.argv.slice(1).map(({ text }) => text);
  if (/^(?:pkill|killall|skill)$/.test(programName(seen)))
    return words.some((word) => /^-[^-]*[gGPsStuU]/.test(word) || !/^[\w./-]+$/.test(word) || HOOK_PROCESSES.includes(word.toLowerCase()));
  return programName(seen) === "kill" && words.some((word) => !/^%|^-(?:[A-Za-z]+|0|9|15)$/.test(word));
}

/** Every name and command line of the hook's processes has one of these words, or is short. */
const HOOK_PROCESSES =
  "/bin/sh /bin/bash -c /.local/state/assent/hooks/assent-hook decide --deadline --on-ask --store bin/node assent.js hook claude codex gemini qwen opencode";

/** True if a text sets or removes a variable of Assent. */
export function setsOwnVariable(text: string): boolean {
  if (/\bASSENT_\w+\+?=|-u\s*ASSENT_|--unset=ASSENT_/.test(text)) return true;
  return text.split(/[;&|\n]/).some((part) => hasInOrder(part, /\b(?:unset|export)\s/, /\bASSENT_/));
}

/** In two searches: one pattern for both takes quadratic time for a long line. */
function hasInOrder(text: string, first: RegExp, second: RegExp): boolean {
  const at = text.search(first);
  return at !== -1 && second.test(text.slice(at));
}

/** Any word may be a subcommand, because options are unknown here. */
function mayAct(command: string, words: readonly string[], commands: readonly OwnCommand[]): boolean {
  const names = [command, ...words.map((word) => `${command} ${word}`)];
  const meant = commands.filter(({ name }) => names.includes(name));
  return meant.length === 0 || meant.some(({ looks }) => !looks);
}

function hasActingSubcommand(command: string, commands: readonly OwnCommand[]): boolean {
  return commands.some(({ name, looks }) => !looks && name.startsWith(`${command} `));
}

const SCRIPT_WORDS = 8;
const RUNS_SCRIPTS: ReadonlySet<string> = new Set(["node", "nodejs", "bun", "deno", "tsx"]);

/** By name, or by file: `…/cli/bin/assent.js`. */
function isAssent(word: string, first: boolean): boolean {
  return isAssentProgram(word) || (first && /(?:^|\/)assent$/.test(foldPath(word)));
}

import { foldPath } from "../paths/fold.ts";
import { programName } from "../shell/effects/write-targets.ts";
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
  return command !== undefined && mayAct(command, words, commands);
}

/** Programs that start a command named in their arguments or input, elsewhere or later. */
const RUNS_COMMANDS: ReadonlySet<string> = new Set([
  ...["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "deno", "corepack", "volta", "mise", "asdf", "fnm", "nvm"],
  ...["ssh", "docker", "podman", "kubectl", "nsenter", "make", "just", "alias", "trap", "at", "batch", "crontab", "osascript", "xdotool"],
]);

const ASSENT = String.raw`(?:@assent/cli|(?<![\w./-])(?:\S*/)?assent)(?:\.js)?(?:@[\w.^~-]+)?`;
const ANSWERS =
  "approve|reject|apply|discard|trust|grants +(?:promote|revoke)|stats +store|(?:hook|mcp) +(?:un)?install|store +(?:copy|migrate)";
const GAP = String.raw`["'\s,\])}]+(?:-[^\s"']+["'\s,]+(?:[^-\s"']\S*["'\s,]+)??)*`;
const ANSWERING = new RegExp(`${ASSENT}${GAP}(?:${ANSWERS})(?![\\w-])`);
const STOPPING = /\b(?:kill|pkill|killall|gdb|strace|ptrace)\b.*\bassent\b/s;

/** True if a text has the words of a command of Assent that answers, trusts or changes the guard. */
function mentionsAnswer(text: string): boolean {
  return ANSWERING.test(text);
}

/** True if a text names what guards other agents: the hook's wrapper, its processes, or variables that choose another record. */
export function mentionsGuard(text: string): boolean {
  return mentionsAnswer(text) || STOPPING.test(text) || /\bassent-hook\b|\bASSENT_[A-Z]/.test(text);
}

/** True if a text sets or removes a variable of Assent. */
export function setsOwnVariable(text: string): boolean {
  return /\bASSENT_\w+\+?=|\b(?:unset|export)\s[^;&|\n]*\bASSENT_|-u\s*ASSENT_|--unset=ASSENT_/.test(text);
}

/** Any word may be a subcommand, because options are unknown here. */
function mayAct(command: string, words: readonly string[], commands: readonly OwnCommand[]): boolean {
  const names = [command, ...words.map((word) => `${command} ${word}`)];
  const meant = commands.filter(({ name }) => names.includes(name));
  return meant.length === 0 || meant.some(({ looks }) => !looks);
}

const SCRIPT_WORDS = 8;
const RUNS_SCRIPTS: ReadonlySet<string> = new Set(["node", "nodejs", "bun", "deno", "tsx"]);

/** By name, or by file: `…/cli/bin/assent.js`. */
function isAssent(word: string, first: boolean): boolean {
  const folded = foldPath(word);
  const name = folded.slice(folded.lastIndexOf("/") + 1);
  return name === "assent.js" || folded.includes("/@assent/cli/") || (first && name === "assent");
}

import { isSensitive } from "../../../paths/sensitive.ts";
import type { Hazard } from "../../plan/plan.ts";
import { type CommandModel, type Modelled, NOTHING, withHazard } from "../command-table.ts";
import { type OptionReading, readOptions } from "../read-options.ts";
import { GIT_HISTORY } from "./git-history.ts";
import { GIT_REFS } from "./git-refs.ts";
import type { GitTable } from "./git-table.ts";

const TABLES: ReadonlyMap<string, GitTable> = new Map(Object.entries({ ...GIT_HISTORY, ...GIT_REFS }));

/** Options before the sub-command that change nothing a rule speaks of. */
const HARMLESS: ReadonlySet<string> = new Set(["--no-pager", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"]);
const RUN_HOOKS: ReadonlySet<string> = new Set([
  "switch",
  "checkout",
  "restore",
  "rm",
  "mv",
  "merge",
  "commit",
  "stash",
  "stash push",
  "stash pop",
  "stash apply",
]);

/** `git`, by the table of its sub-command. */
export const GIT: CommandModel = (args) => {
  const at = args.findIndex((word) => !HARMLESS.has(word));
  const words = at === 0 ? args : at < 0 ? [] : args.slice(at);
  const model = modelSubcommand(words);
  return { ...model, repository: true, words: ["git", ...words] };
};

function modelSubcommand(words: readonly string[]): Modelled {
  const [first = "", second = ""] = words;
  if (first === "--version" && words.length === 1) return NOTHING;
  if (first === "" || first.startsWith("-"))
    return withHazard({ ...NOTHING, class: "unknown" }, "git_global_option", `${first || "no sub-command"} before a sub-command`);
  const pair = TABLES.get(`${first} ${second}`);
  if (pair) return modelByGitTable(words.slice(2), pair);
  const bareReflog = first === "reflog" && words.slice(1).every((word) => word.startsWith("-"));
  const table = bareReflog ? TABLES.get("reflog show") : TABLES.get(first);
  if (table) return modelByGitTable(words.slice(1), table);
  const hooks = RUN_HOOKS.has(first === "stash" && second !== "" && !second.startsWith("-") ? `stash ${second}` : first);
  if (hooks) return withHazard({ ...NOTHING, class: "write" }, "runs_hooks", `git ${first} runs the repository's hooks`);
  return withHazard({ ...NOTHING, class: "unknown" }, "unmodelled_option", `what git ${first} does is not known to Assent`);
}

function modelByGitTable(args: readonly string[], table: GitTable): Modelled {
  const reading = readOptions(args, table);
  const { operands, before } = reading;
  const early = before === operands.length ? operands : operands.slice(0, before);
  const late = before === operands.length ? [] : operands.slice(before);
  const plain: Modelled = {
    ...NOTHING,
    class: table.class ?? "read",
    reads: table.operands === "files" ? operands : table.operands === "data" ? [] : late,
    perhaps: namesAmong(early, reading, table),
    hazards: [
      ...reading.hazards,
      ...formatHazards(reading),
      ...operands.flatMap(revisionHazards),
      ...(reading.found.get("-L") ?? []).flatMap(revisionHazards),
    ],
  };
  const strict =
    table.operands === "none" && operands.length > 0
      ? withHazard(plain, "unmodelled_option", `${operands[0]} is one word too many`)
      : plain;
  return table.refine ? table.refine(reading, strict) : strict;
}

function namesAmong(early: readonly string[], { found }: OptionReading, { operands, patternOptions = [] }: GitTable): readonly string[] {
  if (operands === "pattern") return patternOptions.some((name) => found.has(name)) ? early : early.slice(1);
  return operands === "revisions" ? early : [];
}

/** A format may start a program: `%G…` asks for a signature's check, `%(describe)` starts git again, and a name may stand for either. */
const STARTS_PROGRAM = /%[-+ ]?G|signature|%[-+ ]?\(\*?describe/;
const KNOWN_FORMAT = /%|^$|^t?format:|^(?:oneline|short|medium|full|fuller|reference|email|raw|mboxrd)$/;

function formatHazards({ found, operands }: OptionReading): readonly Hazard[] {
  const formats = [...(found.get("--format") ?? []), ...(found.get("--pretty") ?? [])];
  const startsProgram = (format: string): boolean => STARTS_PROGRAM.test(format);
  const unsafe = formats.some(startsProgram) || found.get("--sort")?.some(startsProgram) || operands.some((word) => /%[-+ ]?G/.test(word));
  if (unsafe) return [{ id: "runs_program", text: "the format may start a program" }];
  return formats.every((format) => KNOWN_FORMAT.test(format))
    ? []
    : [{ id: "unmodelled_option", text: "a format by a name that settings define" }];
}

/** `HEAD:.env` is a file of that commit. */
function revisionHazards(word: string): readonly Hazard[] {
  const sensitive = word.includes(":") && word.split(":").some((part, i) => i > 0 && isSensitive(`/${part}`));
  return sensitive ? [{ id: "sensitive_file", text: `${word} names a sensitive file` }] : [];
}

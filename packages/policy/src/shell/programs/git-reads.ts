import { isSensitive } from "../../paths/sensitive.ts";
import type { Hazard } from "../plan/plan.ts";
import type { Subcommand } from "./program.ts";
import {
  type CommandEffects,
  NO_EFFECTS,
  type OptionReading,
  type ReadModel,
  type ReadTable,
  readOptions,
  withHazard,
  withoutOperands,
  withoutPattern,
} from "./reads.ts";

/** Options before the subcommand that no rule needs to see. */
const HARMLESS: ReadonlySet<string> = new Set(["--no-pager", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"]);

/** The effects of git, by the table of its subcommand. */
export function gitReads(subcommands: Readonly<Record<string, Subcommand>>): ReadModel {
  const rows = new Map(Object.entries(subcommands));
  return (args) => {
    const start = args.findIndex((word) => !HARMLESS.has(word));
    const words = start < 0 ? [] : args.slice(start);
    return { ...subcommandEffects(words, rows), repository: true, words: ["git", ...words] };
  };
}

function subcommandEffects(words: readonly string[], rows: ReadonlyMap<string, Subcommand>): CommandEffects {
  const [first = "", second = ""] = words;
  if (first === "--version" && words.length === 1) return NO_EFFECTS;
  if (first === "" || first.startsWith("-"))
    return withHazard(
      { ...NO_EFFECTS, class: "unknown" },
      "git_global_option",
      first === "" ? "git has no subcommand" : `${first} comes before the subcommand and changes what git does`,
    );
  const pair = rows.get(`${first} ${second}`);
  if (pair?.reads) return effectsByGitTable(words.slice(2), pair.reads);
  const bareReflog = first === "reflog" && words.slice(1).every((word) => word.startsWith("-"));
  const table = rows.get(bareReflog ? "reflog show" : first)?.reads;
  if (table) return effectsByGitTable(words.slice(1), table);
  const isStashVerb = first === "stash" && second !== "" && !second.startsWith("-");
  if ((isStashVerb ? pair : rows.get(first))?.hooks)
    return withHazard({ ...NO_EFFECTS, class: "write" }, "runs_hooks", `git ${first} runs the repository's hooks`);
  return withHazard({ ...NO_EFFECTS, class: "unknown" }, "opaque_program", `Assent can't predict what git ${first} changes`);
}

function effectsByGitTable(args: readonly string[], table: ReadTable): CommandEffects {
  const reading = readOptions(args, table);
  const { operands, before } = reading;
  const [early, late] = [operands.slice(0, before), operands.slice(before)];
  const plain: CommandEffects = {
    ...NO_EFFECTS,
    class: table.class ?? "read",
    reads: table.operands === "files" ? operands : table.operands === "data" ? [] : late,
    perhaps: namesAmong(early, reading, table),
    hazards: [
      ...reading.hazards,
      ...formatHazards(reading),
      ...operands.flatMap(revisionHazards),
      ...operands.flatMap(magicHazards),
      ...(reading.found.get("-L") ?? []).flatMap(revisionHazards),
    ],
  };
  const strict = withoutOperands(plain, reading, table);
  return table.refine ? table.refine(reading, strict) : strict;
}

function namesAmong(early: readonly string[], reading: OptionReading, table: ReadTable): readonly string[] {
  if (table.operands === "pattern") return withoutPattern(early, reading, table);
  return table.operands === "revisions" ? early : [];
}

/** `%G…` checks a signature, `%(describe)` starts git, and a name may mean either. */
const STARTS_PROGRAM = /%[-+ ]?G|signature|%[-+ ]?\(\*?describe/;
const KNOWN_FORMAT = /%|^$|^t?format:|^(?:oneline|short|medium|full|fuller|reference|email|raw|mboxrd)$/;

function formatHazards({ found, operands }: OptionReading): readonly Hazard[] {
  const formats = [...(found.get("--format") ?? []), ...(found.get("--pretty") ?? [])];
  const startsProgram = (format: string): boolean => STARTS_PROGRAM.test(format);
  const unsafe = formats.some(startsProgram) || found.get("--sort")?.some(startsProgram) || operands.some((word) => /%[-+ ]?G/.test(word));
  if (unsafe) return [{ id: "runs_program", text: "The format may start a program" }];
  return formats.every((format) => KNOWN_FORMAT.test(format))
    ? []
    : [{ id: "unmodelled_option", text: "The format is a name that git settings can define" }];
}

/** `git diff HEAD:a :/b` and `:(top)b` show the file b, also if it isn't tracked. */
function magicHazards(word: string): readonly Hazard[] {
  return /^:\/.|^:\([^)]*(?:top|literal)/.test(word)
    ? [{ id: "path_unresolved", text: `Assent doesn't know which file ${word} means` }]
    : [];
}

function revisionHazards(word: string): readonly Hazard[] {
  const sensitive = word.includes(":") && word.split(":").some((part, i) => i > 0 && isSensitive(`/${part}`));
  return sensitive ? [{ id: "sensitive_file", text: `${word} names a sensitive file` }] : [];
}

import type { CommandClass, Hazard, HazardId } from "../plan/plan.ts";
import { type OptionReading, type OptionTable, readOptions } from "./read-options.ts";

/** What a command's words mean, before anyone looks at the disk. */
export type Modelled = {
  readonly class: CommandClass;
  /** Words that are files to read. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Words that are files to read where such a file exists, and something else where not. */
  readonly perhaps: readonly string[];
  readonly hazards: readonly Hazard[];
  /** Links found below the files it reads are followed. */
  readonly follows?: boolean;
  /** It works on the git repository around the working directory. */
  readonly repository?: boolean;
  /** The command as an allow rule compares it, where that is not all of its words. */
  readonly words?: readonly string[];
};

/** A model of a program whose words do not follow the common form. */
export type CommandModel = (args: readonly string[]) => Modelled;

/** A program of the common form: options, then operands. */
export type CommandTable = OptionTable & {
  /** `pattern`: the first is data unless an option gave it, the others are files to read; `here`: files to read, the working directory if there are none. */
  readonly operands: "files" | "here" | "pattern" | "data" | "none";
  /** Options that take the place of the pattern. */
  readonly patternOptions?: readonly string[];
  /** What goes beyond the columns above. */
  readonly refine?: (reading: OptionReading, plain: Modelled) => Modelled;
};

/** A command that reads nothing but its words. */
export const NOTHING: Modelled = { class: "read", reads: [], writes: [], perhaps: [], hazards: [] };

/** Adds hazards to what is known. */
export function withHazard(modelled: Modelled, id: HazardId, text: string): Modelled {
  return { ...modelled, hazards: [...modelled.hazards, { id, text }] };
}

/** What a program of the common form would do with these words. */
export function modelByTable(args: readonly string[], table: CommandTable): Modelled {
  const reading = readOptions(args, table);
  const files = filesAmong(reading, table);
  const reads = reading.paths.length === 0 ? files : [...reading.paths, ...files];
  const plain: Modelled = { ...NOTHING, reads, hazards: reading.hazards };
  const strict =
    table.operands === "none" && reading.operands.length > 0
      ? withHazard(plain, "unmodelled_option", `${reading.operands[0]} is one word too many`)
      : plain;
  return table.refine ? table.refine(reading, strict) : strict;
}

function filesAmong({ operands, found }: OptionReading, { operands: form, patternOptions = [] }: CommandTable): readonly string[] {
  switch (form) {
    case "files":
      return operands;
    case "here":
      return operands.length > 0 ? operands : HERE;
    case "pattern":
      return patternOptions.some((name) => found.has(name)) ? operands : operands.slice(1);
    case "data":
    case "none":
      return NOTHING.reads;
    default:
      return form satisfies never;
  }
}

const HERE: readonly string[] = ["."];

import type { Join, PlainRedirection } from "../read/strict-reader.ts";
import type { FoundProgram } from "./find-program.ts";
import type { Plan } from "./plan.ts";

/** One command of a line as it is executed: nothing in it is read by a shell. */
export type PlannedCommand = {
  readonly join: Join;
  readonly argv: readonly [name: string, ...args: string[]];
  readonly cwd: string;
  readonly redirections: readonly PlainRedirection[];
  /** What the name led to while judging; undefined: nothing of that name was found. `cd` has none: it only moves what follows. */
  readonly program: FoundProgram | undefined;
};

/** The very object that was judged, in the form in which it runs. Without `commands` the text was not understood whole, and nothing runs from it. */
export type PlannedLine = { readonly plan: Plan; readonly readOnly: boolean; readonly commands?: readonly PlannedCommand[] };

/** A private field marks what this package made: nobody else can, a copy does not carry it, and unlike a list of all of them it costs nothing. */
class MarkedLine {
  readonly #made = true;
  readonly plan: Plan;
  readonly readOnly: boolean;
  readonly commands?: readonly PlannedCommand[];
  constructor({ plan, readOnly, commands }: PlannedLine) {
    this.plan = plan;
    this.readOnly = readOnly;
    if (commands) this.commands = commands;
  }
  static isMade(value: unknown): value is MarkedLine {
    return typeof value === "object" && value !== null && #made in value && value.#made;
  }
}

/** Marks a line as judged by this package. */
export function markPlannedLine(line: PlannedLine): PlannedLine {
  return new MarkedLine(line);
}

/** The judged line behind a body's `plan`. Undefined: somebody else's plan, from which nothing may run. */
export function readPlannedLine(value: unknown): PlannedLine | undefined {
  return MarkedLine.isMade(value) ? value : undefined;
}

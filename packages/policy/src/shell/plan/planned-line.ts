import type { Join, PlainRedirection } from "../read/strict-reader.ts";
import type { FoundProgram } from "./find-program.ts";
import type { Plan } from "./plan.ts";

/** A command as it runs, without a shell. */
export type PlannedCommand = {
  readonly join: Join;
  readonly argv: readonly [name: string, ...args: string[]];
  readonly cwd: string;
  readonly redirections: readonly PlainRedirection[];
  /** False: it has a hazard that a rule accepted, such as hooks of git. */
  readonly described: boolean;
  /** Present if an earlier command of the line may change files. Says why the command no longer does what was judged; undefined: it does. */
  readonly recheck?: () => string | undefined;
  /** Where git's repository may keep its data, if not next to its files. */
  readonly gitData?: readonly string[];
  /** Undefined: not found. `cd` needs none. */
  readonly program: FoundProgram | undefined;
};

/** A judged line as it runs. Without `commands`, nothing runs from it. */
export type PlannedLine = { readonly plan: Plan; readonly readOnly: boolean; readonly commands?: readonly PlannedCommand[] };

/** The private field can't be forged or copied. */
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

/** The judged line behind a body's `plan`. Undefined: made by other code, so nothing may run from it. */
export function readPlannedLine(value: unknown): PlannedLine | undefined {
  return MarkedLine.isMade(value) ? value : undefined;
}

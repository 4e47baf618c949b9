import { contentDigest } from "../../facts/digest.ts";
import type { Plan } from "./plan.ts";

/** A plan whose digest is made when somebody asks for it: no verdict needs it. */
export function linePlan(known: Omit<Plan, "digest">): Plan {
  return new LinePlan(known, undefined);
}

/** The plan of a text that nobody read: it is named by the text itself. */
export function unreadPlan(known: Omit<Plan, "digest">, text: string): Plan {
  return new LinePlan(known, text);
}

/** A getter of the class costs nothing until it is used; one of each object would cost as much as the digest. A copy by `...` does not carry it. */
class LinePlan implements Plan {
  readonly cwd: Plan["cwd"];
  readonly shape: Plan["shape"];
  readonly modelled: boolean;
  readonly commands: Plan["commands"];
  readonly hazards: Plan["hazards"];
  readonly #text: string | undefined;
  #digest: string | undefined;

  constructor({ cwd, shape, modelled, commands, hazards }: Omit<Plan, "digest">, text: string | undefined) {
    this.cwd = cwd;
    this.shape = shape;
    this.modelled = modelled;
    this.commands = commands;
    this.hazards = hazards;
    this.#text = text;
  }

  get digest(): string {
    this.#digest ??= contentDigest(JSON.stringify(this.#text === undefined ? whatRuns(this) : [this.cwd, this.#text]));
    return this.#digest;
  }
}

/** Everything that says what would run, and nothing that is only known about it. */
function whatRuns({ cwd, shape, commands }: Plan): readonly unknown[] {
  const parts = commands.map(({ path, argv, cwd: at, assignments, redirections }) => [
    path,
    argv.map(({ text, dynamic }) => (dynamic ? [text] : text)),
    at,
    assignments.map(({ name }) => name),
    redirections.map(({ fd, op, target }) => [fd, op, target]),
  ]);
  return [cwd, shape, parts];
}

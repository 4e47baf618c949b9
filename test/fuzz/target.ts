import type { Mutator } from "./mutate.ts";
import type { Random } from "./random.ts";

/** Something that takes any bytes, and what must hold whatever they are. */
export type Target = {
  /** Also the name of its folder in the corpus. */
  readonly name: string;
  /** How many inputs the tests try. */
  readonly iterations: number;
  /** What inputs are made from, beside the kept files. */
  readonly seeds: readonly string[];
  readonly mutators: readonly Mutator[];
  /** An input that is built, not changed from another; absent: every one is changed from another. */
  readonly build?: (random: Random) => string;
  /** Throws when something does not hold: a finding. */
  readonly check: (input: Buffer) => void | Promise<void>;
  readonly [Symbol.dispose]: () => void;
};

/** What an oracle says of an input that breaks it: the law, then what was seen. */
export class Finding extends Error {
  readonly law: string;
  constructor(law: string, seen: string, options?: ErrorOptions) {
    super(`${law}: ${seen}`, options);
    this.name = "Finding";
    this.law = law;
  }
}

/** Throws a finding where the law does not hold. */
export function holds(law: string, condition: boolean, seen: () => string): asserts condition {
  if (!condition) throw new Finding(law, seen());
}

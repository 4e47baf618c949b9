import type { EffectOffer, ShownChange } from "@assent/core";
import { counted, oneLine } from "../../io/visible-text.ts";

export type DescribedEffect = {
  readonly heading: string;
  readonly changes: readonly string[];
  /** What was left out, and files that later run by themselves. */
  readonly warnings: readonly string[];
  readonly output: string;
  readonly outcome: string;
};

const MOST_CHANGES = 200;

export function describeEffect(effect: Extract<EffectOffer, { readonly state: "shown" }>): DescribedEffect {
  const { ended, durationMs, changes, notes, output, unwritable } = effect;
  const count = changes.length === 0 ? "no changes" : `${counted(changes.length, "path")} changed`;
  const seconds = (durationMs / 1000).toFixed(1);
  const left = changes.length - MOST_CHANGES;
  return {
    heading: `on a copy, without network: ${ended}, ${seconds} s, ${count}`,
    changes: [...changes.slice(0, MOST_CHANGES).map(changeLine), ...(left > 0 ? [`… and ${left} more`] : [])],
    warnings: [
      ...changes.flatMap(({ path, runs }) => (runs === undefined ? [] : [`${oneLine(path)} later runs by itself: ${runs}.`])),
      ...notes.filter((note) => note !== "The network was off."),
    ],
    output,
    outcome: unwritable === undefined ? writes(changes.length) : `These changes cannot be written from here. ${unwritable}`,
  };
}

function writes(count: number): string {
  if (count === 0) return "Yes uses this result. It does not run the command again.";
  return "Yes writes exactly these bytes. It does not run the command again. Files that it only read may have changed since.";
}

const WHAT_COLUMNS = 10;

function changeLine({ path, what, note }: ShownChange): string {
  return `${what.padEnd(WHAT_COLUMNS)}${oneLine(path)}${note === undefined ? "" : ` (${oneLine(note)})`}`;
}

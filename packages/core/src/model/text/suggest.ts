import { cutText } from "./cut-text.ts";
import { editDistance } from "./edit-distance.ts";

const MOST = 3;
const LONGEST_ECHO = 80;

/** The text about an unknown tool; a similar name is suggested, never used. */
export function unknownToolMessage(name: string, visibleNames: readonly string[]): string {
  const near = suggestions(name, visibleNames).map((candidate) => `'${candidate}'`);
  const question = near.length === 0 ? "" : ` Did you mean ${orList(near)}?`;
  return `Tool '${cutText(name, LONGEST_ECHO)}' is not available. Only the provided tools may be used.${question}`;
}

/** At most three similar names, nearest first. */
export function suggestions(name: string, visibleNames: readonly string[]): readonly string[] {
  const meant = name.trim().toLowerCase();
  const near: { readonly candidate: string; readonly distance: number }[] = [];
  for (const candidate of visibleNames) {
    const limit = Math.max(2, Math.floor(candidate.length / 3));
    const distance = editDistance(meant, candidate.toLowerCase(), limit);
    if (distance <= limit) near.push({ candidate, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return near.slice(0, MOST).map(({ candidate }) => candidate);
}

function orList(items: readonly string[]): string {
  const last = items.at(-1) ?? "";
  return items.length < 2 ? last : `${items.slice(0, -1).join(", ")} or ${last}`;
}

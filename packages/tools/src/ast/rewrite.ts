import type { CapturedTexts, Match } from "./match.ts";

/** A replacement: literal text and variables (`NAME` or `$$$NAME`). */
export type Template = readonly (string | { readonly variable: string; readonly written: string })[];

/** One replacement by UTF-16 offsets; `op` is the index of its operation. */
export type Change = { readonly op: number; readonly start: number; readonly end: number; readonly before: string; readonly after: string };

export type OpMatches = { readonly op: number; readonly template: Template; readonly matches: readonly Match[] };

/** Changes in order without overlaps, or the two operations that overlap. */
export type RewritePlan =
  | { readonly state: "planned"; readonly changes: readonly Change[]; readonly nestedSkipped: number }
  | { readonly state: "overlapping"; readonly ops: readonly [number, number]; readonly at: number };

const OUT_VARIABLE = /\$\$\$([A-Z_][A-Z0-9_]*)?|\$\$?([A-Z_][A-Z0-9_]*)/g;

export function readTemplate(out: string): Template {
  const template: Template[number][] = [];
  let from = 0;
  for (const found of out.matchAll(OUT_VARIABLE)) {
    const [written, many, one] = found;
    template.push(out.slice(from, found.index), { variable: one ?? `$$$${many ?? ""}`, written });
    from = found.index + written.length;
  }
  template.push(out.slice(from));
  return template.filter((piece) => piece !== "");
}

export function variablesOf(template: Template): ReadonlySet<string> {
  return new Set(template.flatMap((piece) => (typeof piece === "string" ? [] : [piece.variable])));
}

export function planChanges(text: string, found: readonly OpMatches[]): RewritePlan {
  let nestedSkipped = 0;
  const changes: Change[] = [];
  for (const { op, template, matches } of found) {
    const outer = outermost(matches);
    nestedSkipped += matches.length - outer.length;
    for (const { start, end, captured } of outer) {
      const before = text.slice(start, end);
      const after = fillTemplate(template, captured);
      if (after !== before) changes.push({ op, start, end, before, after });
    }
  }
  changes.sort((a, b) => a.start - b.start || a.end - b.end);
  const overlap = firstOverlap(changes);
  return overlap ? { state: "overlapping", ...overlap } : { state: "planned", changes, nestedSkipped };
}

export function applyChanges(text: string, changes: readonly Change[]): string {
  let result = "";
  let from = 0;
  for (const { start, end, after } of changes) {
    result += text.slice(from, start) + after;
    from = end;
  }
  return result + text.slice(from);
}

function outermost(matches: readonly Match[]): readonly Match[] {
  let covered = -1;
  return matches
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .filter(({ start, end }) => {
      if (start < covered) return false;
      covered = end;
      return true;
    });
}

function fillTemplate(template: Template, captured: CapturedTexts): string {
  return template.map((piece) => (typeof piece === "string" ? piece : (captured.get(piece.variable) ?? ""))).join("");
}

function firstOverlap(changes: readonly Change[]): { readonly ops: readonly [number, number]; readonly at: number } | undefined {
  for (let i = 1; i < changes.length; i++) {
    const [one, other] = [changes[i - 1], changes[i]];
    if (one && other && other.start < one.end) return { ops: [Math.min(one.op, other.op), Math.max(one.op, other.op)], at: other.start };
  }
  return undefined;
}

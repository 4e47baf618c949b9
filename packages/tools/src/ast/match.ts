import type { SgNode } from "@ast-grep/napi";
import type { CompiledPattern } from "./pattern.ts";

/** A match by UTF-16 offsets, with the source of its captured variables. */
export type Match = { readonly start: number; readonly end: number; readonly captured: CapturedTexts };

/** Source text by variable; empty if the variable captured nothing. */
export type CapturedTexts = ReadonlyMap<string, string>;

export type ParsedText = { readonly root: SgNode; readonly text: string };

/** Finds all matches of a pattern, nested ones included. Outer matches come first. */
export function findMatches({ root, text }: ParsedText, pattern: CompiledPattern): readonly Match[] {
  const found: Match[] = [];
  for (const node of root.findAll(pattern.config)) {
    const match = toMatch(node, text, pattern);
    if (pattern.equal.every(([one, other]) => match.captured.get(one) === match.captured.get(other))) found.push(match);
  }
  return found;
}

function toMatch(node: SgNode, text: string, { captures, leavesSemicolon }: CompiledPattern): Match {
  const captured = new Map<string, string>();
  for (const [name, key] of captures) captured.set(name, capturedSource(name, { node, text, given: node.getTransformed(key) ?? "" }));
  const { start, end } = node.range();
  const endsStatement = leavesSemicolon && text[end.index - 1] === ";";
  return { start: start.index, end: endsStatement ? endWithoutSemicolon(node, end.index) : end.index, captured };
}

/** The engine dedents captured text, so multi-line captures are cut from the source. */
function capturedSource(
  name: string,
  { node, text, given }: { readonly node: SgNode; readonly text: string; readonly given: string },
): string {
  if (!given.includes("\n")) return given;
  const nodes = name.startsWith("$") ? node.getMultipleMatches(name.slice(3)) : [node.getMatch(name)];
  const [first, last] = [nodes.at(0), nodes.at(-1)];
  return first && last ? text.slice(first.range().start.index, last.range().end.index) : given;
}

function endWithoutSemicolon(node: SgNode, end: number): number {
  const parts = node.children();
  if (parts.at(-1)?.kind() !== ";") return end;
  return parts.at(-2)?.range().end.index ?? end;
}

/** A place in a text. Both numbers count from 1. */
export type TextPlace = { readonly line: number; readonly column: number };

export function placeFinder(text: string): (offset: number) => TextPlace {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    for (let high = starts.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

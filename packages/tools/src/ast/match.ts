import type { SgNode } from "@ast-grep/napi";
import type { CompiledPattern } from "./pattern.ts";

/** Where a pattern was found in a text, in UTF-16 units, and the exact source of what it captured. */
export type Match = { readonly start: number; readonly end: number; readonly captured: CapturedTexts };

/** The source of each variable that was asked for; nothing captured is an empty text. */
export type CapturedTexts = ReadonlyMap<string, string>;

/** A parsed text. */
export type ParsedText = { readonly root: SgNode; readonly text: string };

/** Every place of a text where a pattern matches, inner ones included; an outer one comes before what it holds. */
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

/** The engine takes the indentation off the lines of what it gives, so a text of several lines is cut from the source. */
function capturedSource(
  name: string,
  { node, text, given }: { readonly node: SgNode; readonly text: string; readonly given: string },
): string {
  if (!given.includes("\n")) return given;
  const nodes = name.startsWith("$") ? node.getMultipleMatches(name.slice(3)) : [node.getMatch(name)];
  const [first, last] = [nodes.at(0), nodes.at(-1)];
  return first && last ? text.slice(first.range().start.index, last.range().end.index) : given;
}

/** The end of the node's last part but its own semicolon. One that belongs to an inner part stays within. */
function endWithoutSemicolon(node: SgNode, end: number): number {
  const parts = node.children();
  if (parts.at(-1)?.kind() !== ";") return end;
  return parts.at(-2)?.range().end.index ?? end;
}

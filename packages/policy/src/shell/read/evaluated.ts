import type { SyntaxNode, WordPart } from "unbash";
import { hasOddEscape, hasSubscript } from "./bash-tree.ts";

/** Whether quotes protect nothing in a part of a node, as in arithmetic and subscripts. */
export function isEvaluated(node: SyntaxNode, child: SyntaxNode): boolean {
  switch (node.type) {
    case "ArithmeticExpansion":
    case "ArithmeticCommand":
    case "Slice":
      return true;
    case "ArithmeticFor":
      return child !== node.body;
    case "ParameterExpansion":
      return child === node.index;
    case "DoubleQuoted":
    case "LocaleString":
    case "HereDocBody":
      return child.type === "ParameterExpansion";
    case "Assignment":
      return child === node.index || holdsSubscript(child);
    case "ArrayValue":
      return (child.type === "Word" && child.text.startsWith("[")) || holdsSubscript(child);
    case "TestUnary":
    case "TestBinary":
      return holdsSubscript(child);
    default:
      return false;
  }
}

function holdsSubscript(node: SyntaxNode): boolean {
  return node.type === "Word" && hasSubscript(node.value);
}

/** What a word runs if quotes protect nothing, from its first substitution on. Undefined: nothing beyond the tree. */
export function evaluatedText(node: SyntaxNode): string | undefined {
  if (node.type !== "Word" && node.type !== "ArithmeticWord") return undefined;
  const { parts } = node;
  const text = parts ? parts.map(partText).join("") : node.value;
  const start = text.search(SIGN);
  if (start === -1) return parts?.some(isOdd) ? "" : undefined;
  return text.slice(start).replace(/["'\\]/g, "");
}

const SIGN = /[$<>]\(|`/;

function partText(part: WordPart): string {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return part.value;
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.map(partText).join("");
    case "Glob":
      return part.kind === "bracket" ? part.parts.map(partText).join("") : part.value;
    default:
      return "_";
  }
}

function isOdd(part: WordPart): boolean {
  return part.type === "AnsiCQuoted" && hasOddEscape(part.text);
}

/** Whether an expansion's value is expanded again, like a prompt. */
export function expandsAgain(node: SyntaxNode): boolean {
  return node.type === "ParameterExpansion" && node.text.endsWith("@P}");
}

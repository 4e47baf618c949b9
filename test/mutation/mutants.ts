import { Lang, parse, type SgNode } from "@ast-grep/napi";

/** One small change of a source text that some test should notice. */
export type Mutant = {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** What is run at this place is changed by it. */
  readonly at: number;
  readonly line: number;
  readonly column: number;
  readonly was: string;
};

/** `felt`: where it begins to count, if that is before the node. */
type Change = { readonly node: SgNode; readonly text: string; readonly felt?: SgNode };

const OPERATORS: ReadonlyMap<string, string> = new Map([
  ["===", "!=="],
  ["!==", "==="],
  ["<", "<="],
  ["<=", "<"],
  [">", ">="],
  [">=", ">"],
  ["&&", "||"],
  ["||", "&&"],
  ["??", "&&"],
  ["+", "-"],
  ["-", "+"],
  ["*", "/"],
  ["/", "*"],
  ["%", "*"],
]);

const METHODS: ReadonlyMap<string, string> = new Map([
  ["some", "every"],
  ["every", "some"],
  ["startsWith", "endsWith"],
  ["endsWith", "startsWith"],
  ["toLowerCase", "toUpperCase"],
  ["min", "max"],
  ["max", "min"],
  ["findLast", "find"],
  ["lastIndexOf", "indexOf"],
]);

/** Parts that say nothing at run time, or only where something is found. */
const QUIET: ReadonlySet<string> = new Set([
  "import_statement",
  "type_alias_declaration",
  "interface_declaration",
  "type_annotation",
  "type_arguments",
  "type_parameters",
  "satisfies_expression_type",
  "literal_type",
]);

type Maker = (node: SgNode) => readonly Change[];

const replaced =
  (text: string): Maker =>
  (node) => [{ node, text }];

/**
 * A changed `??` stands in brackets, for it may be mixed with `&&` and `||` in no other way. What is to the right of a sign may never be run, and yet whether it is
 * depends on the sign: it counts from the left on.
 */
function operator(node: SgNode): readonly Change[] {
  const [left, sign, right] = [node.field("left"), node.field("operator"), node.field("right")];
  const other = sign && OPERATORS.get(sign.text());
  if (!left || !sign || !right || !other) return [];
  return sign.text() === "??"
    ? [{ node, text: `((${left.text()}) ${other} (${right.text()}))` }]
    : [{ node: sign, text: other, felt: left }];
}

function condition(node: SgNode): readonly Change[] {
  const test = node.field("condition");
  if (!test) return [];
  const texts = test.kind() === "parenthesized_expression" ? ["(true)", "(false)"] : ["true", "false"];
  return texts.map((text) => ({ node: test, text }));
}

function negation(node: SgNode): readonly Change[] {
  const inner = node.field("argument");
  return node.field("operator")?.text() === "!" && inner ? [{ node, text: inner.text() }] : [];
}

function method(node: SgNode): readonly Change[] {
  const name = node.field("property");
  const other = name && METHODS.get(name.text());
  const asked = node.children().find((child) => child.kind() === "optional_chain");
  return [...(name && other ? [{ node: name, text: other }] : []), ...(asked ? [{ node: asked, text: "." }] : [])];
}

const emptied =
  (text: string): Maker =>
  (node) =>
    node.children().some((child) => child.isNamed()) ? [{ node, text }] : [];

function number(node: SgNode): readonly Change[] {
  const value = Number(node.text().replaceAll("_", ""));
  return Number.isFinite(value) ? [{ node, text: String(value + 1) }] : [];
}

const MAKERS: ReadonlyMap<string, Maker> = new Map([
  ["binary_expression", operator],
  ["if_statement", condition],
  ["ternary_expression", condition],
  ["unary_expression", negation],
  ["member_expression", method],
  ["true", replaced("false")],
  ["false", replaced("true")],
  ["number", number],
  ["string", (node) => (node.text().length > 2 ? [{ node, text: '""' }] : [])],
  ["template_string", emptied("``")],
  ["array", emptied("[]")],
  ["statement_block", emptied("{}")],
  ["expression_statement", replaced(";")],
]);

function visit(node: SgNode, found: Change[]): void {
  const kind = String(node.kind());
  if (QUIET.has(kind)) return;
  if (kind === "export_statement" && node.field("source")) return;
  found.push(...(MAKERS.get(kind)?.(node) ?? []));
  for (const child of node.children()) visit(child, found);
}

/** Every mutant of a TypeScript source, in the order of the text. */
export function mutantsOf(source: string): readonly Mutant[] {
  const found: Change[] = [];
  visit(parse(Lang.TypeScript, source).root(), found);
  return found.map(({ node, text, felt = node }) => {
    const { start, end } = node.range();
    const at = felt.range().start.index;
    return { from: start.index, to: end.index, text, at, line: start.line + 1, column: start.column + 1, was: node.text() };
  });
}

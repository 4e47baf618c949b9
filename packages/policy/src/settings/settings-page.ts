import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type ProblemType, problemEffect, type SettingsProblem } from "./problem.ts";
import { createPlaceFinder, type TextPlace } from "./text-place.ts";

export type SettingsPage = {
  readonly file: string;
  readonly placeAt: (offset: number) => TextPlace;
  readonly problems: SettingsProblem[];
  refusals: number;
};

export type PageRemark = {
  readonly type: ProblemType;
  readonly offset: number;
  readonly key: string;
  readonly message: string;
  readonly hint: string;
  /** In `permissions.allow`, a fault only removes something. */
  readonly inAllow?: boolean;
};

/** Limits the work a hostile file can cause. */
const MAX_REFUSALS = 1_000;

export function isFull({ refusals }: SettingsPage): boolean {
  return refusals >= MAX_REFUSALS;
}

export function addProblem(page: SettingsPage, { offset, inAllow = false, ...words }: PageRemark): void {
  const effect = problemEffect(words.type, inAllow);
  if (effect === "refuse") page.refusals += 1;
  page.problems.push({ file: page.file, ...page.placeAt(offset), ...words, effect });
}

/** Parses a text. There is no tree if it is invalid, too deep, or has duplicate keys. */
export function openPage(file: string, text: string): { readonly page: SettingsPage; readonly root?: Node } {
  const page: SettingsPage = { file, placeAt: createPlaceFinder(text), problems: [], refusals: 0 };
  const deep = findTooDeep(text);
  if (deep !== undefined) {
    const message = `Nested deeper than ${MAX_DEPTH} levels.`;
    addProblem(page, { type: "settings_syntax", offset: deep, key: "", message, hint: "No setting needs this depth." });
    return { page };
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false, allowEmptyContent: false });
  const [first] = errors;
  if (first) {
    const message = `Invalid JSON: ${SYNTAX_ERRORS[printParseErrorCode(first.error)] ?? "unexpected content"}.`;
    const hint = "Comments and trailing commas are allowed.";
    addProblem(page, { type: "settings_syntax", offset: first.offset, key: "", message, hint });
  }
  if (first || !root) return { page };
  checkKeys(page, root, "");
  return { page, root };
}

const MAX_DEPTH = 32;

/** Not recursive, because the parser would overflow the stack. */
function findTooDeep(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (scanner.scan(); scanner.getTokenLength() > 0; scanner.scan()) {
    const offset = scanner.getTokenOffset();
    const start = text[offset];
    if (start === "{" || start === "[") depth += 1;
    if (start === "}" || start === "]") depth -= 1;
    if (depth > MAX_DEPTH) return offset;
  }
  return undefined;
}

const SYNTAX_ERRORS: Readonly<Record<string, string>> = {
  InvalidSymbol: "expected a string in double quotes, a number, true, false or null",
  InvalidNumberFormat: "invalid number",
  PropertyNameExpected: "expected a key in double quotes",
  ValueExpected: "expected a value",
  ColonExpected: "expected a colon",
  CommaExpected: "expected a comma",
  CloseBraceExpected: "expected a closing }",
  CloseBracketExpected: "expected a closing ]",
  EndOfFileExpected: "expected the end of the file",
  UnexpectedEndOfComment: "the comment is not closed",
  UnexpectedEndOfString: "the closing quote is missing",
  UnexpectedEndOfNumber: "the number is incomplete",
  InvalidUnicode: "invalid \\u escape",
  InvalidEscapeCharacter: "invalid escape",
  InvalidCharacter: "control characters must be escaped",
};

/** Keys that programs may misread. */
const FORBIDDEN_KEYS: ReadonlySet<unknown> = new Set(["__proto__", "constructor", "prototype"]);

export function isForbidden(name: unknown): boolean {
  return FORBIDDEN_KEYS.has(name);
}

/** A duplicate key would silently lose a value. */
function checkKeys(page: SettingsPage, node: Node, key: string): void {
  if (isFull(page)) return;
  checkText(page, node, key);
  if (node.type === "array") for (const [index, item] of (node.children ?? []).entries()) checkKeys(page, item, `${key}[${index}]`);
  if (node.type !== "object") return;
  const seen = new Set<unknown>();
  for (const [name, value] of objectMembers(node)) {
    const path = memberPath(key, name.value);
    checkText(page, name, path);
    if (isForbidden(name.value)) {
      addProblem(page, unknownKey(name, path, { message: `The key ${String(name.value)} is not allowed.`, hint: "Remove it." }));
    } else if (seen.has(name.value)) {
      const message = `The key ${path} appears a second time.`;
      addProblem(page, { type: "settings_duplicate_key", offset: name.offset, key: path, message, hint: "Keep only one of them." });
    }
    seen.add(name.value);
    checkKeys(page, value, path);
  }
}

function checkText(page: SettingsPage, { type, value, offset }: Node, key: string): void {
  if (type !== "string" || typeof value !== "string" || value.isWellFormed()) return;
  const message = "This string contains half a character (a lone surrogate).";
  addProblem(page, { type: "settings_syntax", offset, key, message, hint: "Write the whole character." });
}

export function unknownKey(name: Node, key: string, words: { readonly message: string; readonly hint: string }): PageRemark {
  return { type: "settings_unknown_key", offset: name.offset, key, ...words };
}

export function objectMembers(node: Node): readonly (readonly [name: Node, value: Node])[] {
  return (node.children ?? []).flatMap(({ children: [name, value] = [] }) => (name && value ? [[name, value] as const] : []));
}

/** The key of a value inside another: `permissions.deny[2]`. */
export function keyPath(key: string, path: readonly (string | number)[]): string {
  return path.reduce<string>((at, step) => (typeof step === "number" ? `${at}[${step}]` : memberPath(at, step)), key);
}

export function memberPath(parent: string, name: unknown): string {
  return parent === "" ? String(name) : `${parent}.${String(name)}`;
}

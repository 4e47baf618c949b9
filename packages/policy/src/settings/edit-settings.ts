import { canonicalJson, type Json } from "@assent/core";
import { applyEdits, findNodeAtLocation, getNodeValue, modify, type Node, type ParseError, parseTree } from "jsonc-parser";
import type { RuleObject } from "./rule-entry.ts";
import { objectMembers } from "./settings-page.ts";
import { createPlaceFinder } from "./text-place.ts";

/** A list that a rule can be added to. */
export type RuleListName = "allow" | "ask" | "deny";

export type EditedSettings = { readonly text: string; readonly line: number };

/** Adds a rule at the end of its list and keeps everything else byte for byte. An existing rule stays where it is. Throws if the text is not valid. */
export function addRule(text: string, list: RuleListName, rule: string | RuleObject): EditedSettings {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const { text: edited, offset } = insertRule(text.slice(mark.length), list, shortestForm(rule));
  return { text: mark + edited, line: createPlaceFinder(edited)(offset).line };
}

/** Sets a key of the settings, by its path, and keeps everything else. Undefined removes it. */
export function setKey(text: string, path: readonly string[], value: Json | undefined): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const old = text.slice(mark.length);
  const full = parseSettings(old) ? old : `${old}${old === "" || /[\r\n]$/.test(old) ? "" : lineEndOf(old)}{}${lineEndOf(old)}`;
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: lineEndOf(full) };
  return mark + applyEdits(full, modify(full, [...path], value, { formattingOptions }));
}

type InsertedRule = { readonly text: string; readonly offset: number };

type RuleValue = string | RuleObject;

function shortestForm(rule: RuleValue): RuleValue {
  return typeof rule === "object" && Object.keys(rule).length === 1 ? rule.rule : rule;
}

function insertRule(text: string, list: RuleListName, rule: RuleValue): InsertedRule {
  const root = parseSettings(text);
  if (!root) return locateRule(appendSkeleton(text, { permissions: { [list]: [rule] } }), rule);
  const permissions = findMember(root, "permissions");
  const rules = permissions && findMember(permissions, list);
  const there = rules && listItems(rules, list).find((item) => isSameRule(item, rule));
  if (there) return { text, offset: (findNodeAtLocation(there, ["rule"]) ?? there).offset };
  const [container, entry] = rules
    ? [rules, (style: EntryStyle) => formatValue(rule, style)]
    : permissions
      ? [permissions, (style: EntryStyle) => `"${list}": ${formatValue([rule], style)}`]
      : [root, (style: EntryStyle) => `"permissions": ${formatValue({ [list]: [rule] }, style)}`];
  return locateRule(insertInto({ text, root, container }, entry), rule);
}

/** Undefined if the text has only whitespace and comments. */
function parseSettings(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  if (errors.length > 0) throw new Error("The settings file is not valid JSON with comments. Fix it first.");
  if (root && root.type !== "object") throw new Error("The settings file must contain an object. Fix it first.");
  return root;
}

function findMember(object: Node, name: string): Node | undefined {
  if (object.type !== "object") throw new Error("permissions must be an object. Fix the settings file first.");
  return objectMembers(object).find(([key]) => key.value === name)?.[1];
}

function listItems(node: Node, list: string): readonly Node[] {
  if (node.type !== "array") throw new Error(`permissions.${list} must be a list. Fix the settings file first.`);
  return node.children ?? [];
}

function isSameRule(item: Node, rule: RuleValue): boolean {
  const value: unknown = getNodeValue(item);
  return canonicalJson(typeof value === "string" ? { rule: value } : value) === canonicalJson(typeof rule === "string" ? { rule } : rule);
}

/** How a container's entries are written; `inline`: on one line. */
type EntryStyle = { readonly inline: boolean; readonly indent: string; readonly unit: string; readonly lineEnd: string };

type InsertionPoint = { readonly text: string; readonly root: Node; readonly container: Node };

/** Comments after the last entry stay with it. */
function insertInto(spot: InsertionPoint, entry: (style: EntryStyle) => string): TextEdit {
  const { text, container } = spot;
  const style = styleOf(spot);
  const written = entry(style);
  const close = container.offset + container.length - 1;
  const last = container.children?.at(-1);
  const end = last ? last.offset + last.length : container.offset + 1;
  const comma = last && !hasComma(text, end, close) ? "," : "";
  const trailing = last && comma === "" ? "," : "";
  const at = beforeClosing(text, end, close);
  const between = text.slice(end, at.offset);
  const head = text.slice(0, end) + comma + between;
  if (style.inline) {
    const gap = last || between !== "" ? " " : "";
    return { text: head + gap + written + trailing + text.slice(at.offset), from: head.length };
  }
  const closing = at.ownLine ? text.slice(at.offset) : style.lineEnd + outerIndent(style) + text.slice(close);
  return { text: head + style.lineEnd + style.indent + written + trailing + closing, from: head.length };
}

type TextEdit = { readonly text: string; readonly from: number };

/** Searches from the edit's start, to skip equal texts elsewhere. */
function locateRule({ text, from }: TextEdit, rule: RuleValue): InsertedRule {
  const shownRule = JSON.stringify(typeof rule === "string" ? rule : rule.rule);
  return { text, offset: Math.max(0, text.indexOf(shownRule, from)) };
}

function outerIndent({ indent, unit }: EntryStyle): string {
  return indent.endsWith(unit) ? indent.slice(0, indent.length - unit.length) : "";
}

/** `ownLine`: the closing bracket is on its own line. */
function beforeClosing(text: string, end: number, close: number): { readonly offset: number; readonly ownLine: boolean } {
  const before = text.slice(end, close);
  const offset = end + before.trimEnd().length;
  return { offset, ownLine: /[\r\n]/.test(text.slice(offset, close)) };
}

function hasComma(text: string, from: number, to: number): boolean {
  return text
    .slice(from, to)
    .replaceAll(/\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g, "")
    .includes(",");
}

function styleOf({ text, root, container }: InsertionPoint): EntryStyle {
  const unit = indentAt(text, root.children?.[0]?.offset ?? 0) || "  ";
  const entries = container.children ?? [];
  const isOneLine = !/[\r\n]/.test(text.slice(container.offset, container.offset + container.length));
  const inline = isOneLine && (entries.length > 0 || (container !== root && !/[\r\n]/.test(text.trim())));
  const model = entries.at(-1) ?? container;
  const indent = (entries.length > 0 ? indentAt(text, model.offset) : undefined) ?? lineIndent(text, container.offset) + unit;
  return { inline, indent, unit, lineEnd: lineEndOf(text) };
}

function lineEndOf(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? "\n";
}

function indentAt(text: string, offset: number): string | undefined {
  const blanks = lineIndent(text, offset);
  return lineStart(text, offset) + blanks.length === offset ? blanks : undefined;
}

function lineIndent(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))?.[0] ?? "";
}

function lineStart(text: string, offset: number): number {
  return Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1;
}

function formatValue(value: unknown, { inline, indent, unit, lineEnd }: EntryStyle): string {
  if (inline) return JSON.stringify(value);
  return JSON.stringify(value, undefined, unit).replaceAll("\n", lineEnd + indent);
}

function appendSkeleton(text: string, value: unknown): TextEdit {
  const lineEnd = lineEndOf(text);
  const head = text === "" || /[\r\n]$/.test(text) ? text : text + lineEnd;
  return { text: `${head}${JSON.stringify(value, undefined, 2).replaceAll("\n", lineEnd)}${lineEnd}`, from: head.length };
}

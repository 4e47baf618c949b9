import { messageOf } from "@assent/core";
import type { NapiConfig, SgNode } from "@ast-grep/napi";
import type { Engine } from "./engine.ts";
import type { Language } from "./languages.ts";
import { syntaxErrors } from "./syntax-tree.ts";

export type CompiledPattern = {
  readonly config: NapiConfig;
  /** Name of the transformation that holds a variable's text, by variable (`NAME` or `$$$NAME`). */
  readonly captures: ReadonlyMap<string, string>;
  readonly equal: readonly (readonly [string, string])[];
  /** True if a matched statement keeps its semicolon because the pattern has none. */
  readonly leavesSemicolon: boolean;
};

/** A variable in a pattern. Names that start with an underscore capture nothing. */
const VARIABLE = /(?<![\w$])\$(?:\$(\$)?)?([A-Z_][A-Z0-9_]*)(?!\w)/g;

/** The variables that a pattern captures, as `NAME` or `$$$NAME`. */
export function listCaptures(pattern: string): ReadonlySet<string> {
  const names = Array.from(pattern.matchAll(VARIABLE), ([, many, name = ""]) =>
    name.startsWith("_") ? "" : `${many ? "$$$" : ""}${name}`,
  );
  return new Set(names.filter((name) => name !== ""));
}

/** Prepares a pattern for a language, or returns the reason why it cannot. */
export function compilePattern(engine: Engine, language: Language, pattern: string, wanted: Iterable<string>): CompiledPattern | string {
  const { text, equal } = splitRepeatedVariables(pattern.trim());
  const found = findPatternSource(engine, language, text);
  if (!found) return `The pattern does not parse as ${language.title}`;
  const captures = new Map(Array.from(new Set([...wanted, ...equal.flat()]), (name, index) => [name, `ASSENT_TEXT_${index}`]));
  const texts = nodeTexts(found.root);
  for (const name of captures.keys()) {
    const spellings = name.startsWith("$") ? [name] : [`$${name}`, `$$${name}`];
    if (!spellings.some((variable) => texts.has(replaceDollars(variable, language.expando))))
      return `${spellings[0]} captures nothing in this pattern`;
  }
  const config: NapiConfig = { rule: { pattern: found.source }, transform: makeTransform(captures) };
  const fault = engineRefusal(engine.parseNow(language, "").root(), config);
  if (fault !== undefined) return `The pattern does not parse as ${language.title}: ${fault}`;
  return { config, captures, equal, leavesSemicolon: !(text.endsWith(";") || /^\$+\w+$/.test(text)) };
}

function nodeTexts(root: SgNode): ReadonlySet<string> {
  return new Set(root.findAll(ANY_NODE).map((node) => node.text()));
}

const ANY_NODE: NapiConfig = { rule: { regex: "" } };

/** Getting a capture as text is much faster than getting its nodes. */
function makeTransform(captures: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    Array.from(captures, ([name, key]) => [key, { substring: { source: name.startsWith("$") ? name : `$${name}` } }]),
  );
}

/**
 * A repeated variable must match equal text, but the engine only requires equal structure. So each occurrence gets its own name and
 * the texts are compared later. Patterns with `$$$` are left alone: the engine needs the repetition to know where to stop.
 */
function splitRepeatedVariables(pattern: string): { readonly text: string; readonly equal: readonly (readonly [string, string])[] } {
  const equal: (readonly [string, string])[] = [];
  if (pattern.includes("$$$")) return { text: pattern, equal };
  const seen = new Set<string>();
  const text = pattern.replace(VARIABLE, (variable: string, _, name: string) => {
    if (name.startsWith("_")) return variable;
    if (!seen.has(name)) {
      seen.add(name);
      return variable;
    }
    const own = `${name}_AGAIN_${equal.length}`;
    equal.push([name, own]);
    return variable.replace(name, own);
  });
  return { text, equal };
}

type PatternSource = { readonly source: NonNullable<NapiConfig["rule"]["pattern"]>; readonly root: SgNode };

/** Tries the pattern inside its language's context, then on its own. Undefined if neither parses. */
function findPatternSource(engine: Engine, language: Language, pattern: string): PatternSource | undefined {
  const plain = replaceDollars(pattern, language.expando);
  const { context: [before, after] = ["", ""] } = language;
  const inContext = engine.parseNow(language, before + plain + after).root();
  const selector = language.context && findSelector(inContext, language, { start: before.length, end: before.length + plain.length });
  if (selector !== undefined) return { source: { context: before + pattern + after, selector }, root: inContext };
  const root = engine.parseNow(language, plain).root();
  return isPattern(root, language) ? { source: pattern, root } : undefined;
}

/** Accepts a missing semicolon, and `$$$` where the language allows no name. */
function isPattern(root: SgNode, language: Language): boolean {
  const many = language.expando.repeat(3);
  const isMany = (text: string): boolean => text.startsWith(many) && /^(?:[A-Z_][A-Z0-9_]*)?$/.test(text.slice(many.length));
  return syntaxErrors(root, language).every((node) => node.kind() === ";" || isMany(node.text()));
}

/** Replaces dollar signs as the engine does before parsing. */
function replaceDollars(pattern: string, expando: string): string {
  return pattern.replace(/\${1,3}(?=[A-Z_])|\${3}/g, (dollars) => expando.repeat(dollars.length));
}

/** The kind of the innermost node that spans exactly the pattern, if it is also the first node of that kind, which the engine picks. */
function findSelector(
  root: SgNode,
  language: Language,
  { start, end }: { readonly start: number; readonly end: number },
): string | undefined {
  if (!isPattern(root, language)) return undefined;
  const isWhole = (node: SgNode): boolean => {
    const range = node.range();
    return range.start.index === start && range.end.index === end;
  };
  const [innermost] = root
    .findAll(ANY_NODE)
    .filter((node) => node.isNamed() && isWhole(node))
    .reverse();
  const kind = innermost && String(innermost.kind());
  const first = kind === undefined ? null : root.find({ rule: { kind } });
  return first && isWhole(first) ? kind : undefined;
}

function engineRefusal(root: SgNode, config: NapiConfig): string | undefined {
  try {
    root.find(config);
    return undefined;
  } catch (error) {
    const [reason = ""] = messageOf(error).split("|->").slice(-1);
    return reason.trim().replace(/\.? Please check the pattern source.*$/s, "");
  }
}

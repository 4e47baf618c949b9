import { extname } from "node:path";

/** A language that can be searched by structure. */
export type Language = {
  /** As callers name it. */
  readonly name: string;
  readonly title: string;
  /** As the engine names it. */
  readonly grammar: string;
  readonly extensions: readonly string[];
  /** What the engine writes for the dollar signs of variables, which few languages have. */
  readonly expando: string;
  /** Kinds of nodes that may be empty in a text without faults. */
  readonly emptyKinds: readonly string[];
  /** What a pattern is put between where it is no text of its own: most are parts of a function or rule. */
  readonly context?: readonly [before: string, after: string];
  /** The package that has the grammar, where the engine itself has none. */
  readonly package?: string;
};

const NONE: readonly string[] = [];

/** The grammar misses semicolons in declarations that need none. */
const SEMICOLON: readonly string[] = [";"];

/** All of them. */
export const LANGUAGES: readonly Language[] = [
  {
    name: "typescript",
    title: "TypeScript",
    grammar: "TypeScript",
    extensions: [".ts", ".mts", ".cts"],
    expando: "$",
    emptyKinds: SEMICOLON,
  },
  { name: "tsx", title: "TSX", grammar: "Tsx", extensions: [".tsx"], expando: "$", emptyKinds: SEMICOLON },
  {
    name: "javascript",
    title: "JavaScript",
    grammar: "JavaScript",
    extensions: [".js", ".mjs", ".cjs", ".jsx"],
    expando: "$",
    emptyKinds: SEMICOLON,
  },
  { name: "css", title: "CSS", grammar: "Css", extensions: [".css"], expando: "_", emptyKinds: NONE, context: ["a { ", " }"] },
  { name: "html", title: "HTML", grammar: "Html", extensions: [".html"], expando: "z", emptyKinds: ["raw_text"] },
  {
    name: "python",
    title: "Python",
    grammar: "python",
    extensions: [".py"],
    expando: "µ",
    emptyKinds: NONE,
    package: "@ast-grep/lang-python",
  },
  {
    name: "go",
    title: "Go",
    grammar: "go",
    extensions: [".go"],
    expando: "µ",
    emptyKinds: ["", "raw_string_literal_content"],
    context: ["func _() { ", " }"],
    package: "@ast-grep/lang-go",
  },
  {
    name: "rust",
    title: "Rust",
    grammar: "rust",
    extensions: [".rs"],
    expando: "µ",
    emptyKinds: ["string_content"],
    package: "@ast-grep/lang-rust",
  },
];

const BY_EXTENSION = new Map(LANGUAGES.flatMap((language) => language.extensions.map((extension) => [extension, language] as const)));
const ALIASES: Readonly<Record<string, string>> = { ts: "typescript", js: "javascript", jsx: "javascript", py: "python", rs: "rust" };

/** The language of a file by its extension; undefined: it is not searched. */
export function languageOf(path: string): Language | undefined {
  return BY_EXTENSION.get(extname(path));
}

/** The language of this name or customary abbreviation, whatever the case. */
export function languageNamed(name: string): Language | undefined {
  const lower = name.toLowerCase();
  const meant = Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : lower;
  return LANGUAGES.find((language) => language.name === meant);
}

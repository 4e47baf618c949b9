import { extname } from "node:path";

export type Language = {
  readonly name: string;
  readonly title: string;
  readonly grammar: string;
  readonly extensions: readonly string[];
  /** What the engine writes instead of `$` in variables. */
  readonly expando: string;
  /** Node kinds that may be empty in valid code. */
  readonly emptyKinds: readonly string[];
  /** Code around a pattern that does not parse on its own. */
  readonly context?: readonly [before: string, after: string];
  /** The package of the grammar, if it is not built into the engine. */
  readonly package?: string;
};

const NONE: readonly string[] = [];

/** The grammar reports missing semicolons where the language needs none. */
const SEMICOLON: readonly string[] = [";"];

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

/** The language of a file by its extension; undefined if unsupported. */
export function languageOf(path: string): Language | undefined {
  return BY_EXTENSION.get(extname(path));
}

export function languageNamed(name: string): Language | undefined {
  const lower = name.toLowerCase();
  const meant = Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : lower;
  return LANGUAGES.find((language) => language.name === meant);
}

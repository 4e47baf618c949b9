import { extname } from "node:path";
import type { Role } from "./theme.ts";

export type Token = { readonly text: string; readonly role: Extract<Role, "keyword" | "string" | "comment" | "number"> | undefined };

type Family = { readonly comment: string; readonly keywords: ReadonlySet<string> };

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const C_LIKE = words(
  "abstract any as async await bool boolean break case catch chan char class const continue crate debugger default defer delete do double dyn else enum export extends extern false final finally float fn for from func function go goto if impl implements import in instanceof int interface is keyof let long loop match mod mut namespace new nil null number of package private protected pub public range readonly ref return satisfies select self short static string struct super switch this throw throws trait true try type typeof undefined unsafe use var void volatile where while with yield",
);
const SCRIPT_LIKE = words(
  "and as assert async await begin break case class continue def del do done elif else elsif end esac except exit export fi finally for from function global if import in is lambda local nil None not or pass raise require rescue return self set then True False true false try unless until when while with yield",
);
const DATA_LIKE = words("true false null yes no on off");

const FAMILIES: Readonly<Record<string, Family>> = {
  ...family(
    "//",
    C_LIKE,
    "ts tsx mts cts js jsx mjs cjs typescript javascript java kt swift c h cc cpp hpp cs go rs rust php scala dart css scss less",
  ),
  ...family("#", SCRIPT_LIKE, "py python rb ruby sh bash zsh fish shell pl makefile dockerfile"),
  ...family("#", DATA_LIKE, "yml yaml toml ini json jsonc env"),
  ...family(
    "--",
    words(
      "select from where insert update delete into values create table drop alter join left right inner on and or not null primary key as order by group limit begin commit",
    ),
    "sql lua",
  ),
};

function family(comment: string, keywords: ReadonlySet<string>, names: string): Record<string, Family> {
  return Object.fromEntries(names.split(" ").map((name) => [name, { comment, keywords }]));
}

const TOKEN = /"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|`(?:\\.|[^`\\])*`?|\b\d[\d_.a-fA-FxXoOeE]*\b|[\p{L}_$][\p{L}\p{N}_$]*/gu;
const LONGEST = 1_000;

/** Splits a line of code into highlighted pieces. `language` is a language or a file name. */
export function highlight(line: string, language: string): readonly Token[] {
  const known = FAMILIES[languageOf(language)];
  if (!known || line.length > LONGEST) return [{ text: line, role: undefined }];
  const tokens: Token[] = [];
  let at = 0;
  const plain = (to: number): void => {
    if (to > at) tokens.push({ text: line.slice(at, to), role: undefined });
    at = to;
  };
  const trimmed = line.trimStart();
  if (trimmed.startsWith(known.comment) || /^(?:\/\*|\*[ /])/.test(trimmed)) return [{ text: line, role: "comment" }];
  for (const match of line.matchAll(TOKEN)) {
    const comment = line.slice(at, match.index).indexOf(`${known.comment} `);
    if (comment !== -1) break;
    plain(match.index);
    tokens.push({ text: match[0], role: roleOf(match[0], known) });
    at += match[0].length;
  }
  const rest = line.indexOf(`${known.comment} `, at);
  if (rest === -1) plain(line.length);
  else {
    plain(rest);
    tokens.push({ text: line.slice(rest), role: "comment" });
  }
  return tokens;
}

function languageOf(name: string): string {
  const lower = name.toLowerCase();
  return extname(lower).slice(1) || lower;
}

function roleOf(text: string, { keywords }: Family): Token["role"] {
  if (/^["'`]/.test(text)) return "string";
  if (/^\d/.test(text)) return "number";
  return keywords.has(text) ? "keyword" : undefined;
}

import type { RedactionPattern, Settings } from "./settings/settings.ts";

/** Creates a function that hides secrets in a text. Each leaves the name of its kind. */
export function createRedactor(patterns: Settings["redaction.patterns"]): (text: string) => string {
  const find = createFinder(patterns);
  return (text) => hideSecrets(text, find(text));
}

/** Creates a function that hides secrets in the lines of a text, also one that goes over several lines. The number of lines stays the same. */
export function createLineRedactor(patterns: Settings["redaction.patterns"]): (lines: readonly string[]) => readonly string[] {
  const find = createFinder(patterns);
  return (lines) => {
    const secrets = find(lines.join("\n"));
    let at = 0;
    return lines.map((line) => {
      const start = at;
      at += line.length + 1;
      const inside = secrets.filter((secret) => secret.start < start + line.length && secret.end > start);
      const own = inside.map(({ name, ...span }) => ({
        name,
        start: Math.max(0, span.start - start),
        end: Math.min(line.length, span.end - start),
      }));
      return hideSecrets(line, own);
    });
  };
}

function createFinder(patterns: Settings["redaction.patterns"]): SecretFinder {
  const finders = [...patterns.flatMap(compilePattern), ...BUILT_IN];
  return (text) => finders.flatMap((find) => find(text));
}

/** Creates a function that hides secrets in every text of a JSON value, and whole texts under names such as `password`. Fields named in `kept` stay as they are. */
export function createValueRedactor(patterns: Settings["redaction.patterns"], kept: ReadonlySet<string> = new Set()): <T>(value: T) => T {
  const redact = createRedactor(patterns);
  const names = new Map<string, string>();
  const shownName = (name: string): string => {
    const shown = names.get(name) ?? redact(name);
    if (names.size < MOST_NAMES) names.set(name, shown);
    return shown;
  };
  const walk = (value: unknown, name: string): unknown => {
    if (kept.has(name)) return value;
    if (typeof value === "string") return isSecretName(name) && value !== "" ? placeholderFor("secret") : redact(value);
    if (Array.isArray(value)) return value.map((one) => walk(one, name));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [shownName(key), walk(inner, key)]));
  };
  return <T>(value: T) => walk(value, "") as T; // only texts change
}

const MOST_NAMES = 1_000;

function isSecretName(name: string): boolean {
  return /(?:api[_-]?key|token|secret|password|passwd|authorization)$/i.test(name);
}

type FoundSecret = { readonly start: number; readonly end: number; readonly name: string };

/** Finders see the original text, so that one cannot hide part of another's secret. */
type SecretFinder = (text: string) => readonly FoundSecret[];

function hideSecrets(text: string, secrets: readonly FoundSecret[]): string {
  let shown = "";
  let from = 0;
  let covered = 0;
  for (const { start, end, name } of secrets.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start >= covered) shown += text.slice(from, start) + placeholderFor(name);
    covered = Math.max(covered, end);
    from = covered;
  }
  return shown + text.slice(from);
}

function compilePattern({ name, literal, prefix, key }: RedactionPattern): readonly SecretFinder[] {
  return [
    ...(literal ? [findLiteral(name, literal)] : []),
    ...(prefix ? [findPrefixed({ name, prefix, least: 1 })] : []),
    ...(key ? [findKeyed(name, key)] : []),
  ];
}

/** Every hidden secret is replaced by a text that starts like this. */
export const PLACEHOLDER_START = "[redacted: ";

function placeholderFor(name: string): string {
  return `${PLACEHOLDER_START}${name}]`;
}

const PREFIXES: readonly string[] = [
  ...["sk-", "sk_live_", "sk_test_", "rk_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "pypi-"],
  ...["xoxb-", "xoxp-", "xoxa-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "hf_", "dop_v1_", "eyJ"],
];
const MIN_KEY_LENGTH = 8;

/** A group named `before` stays readable. */
const FORMS: readonly (readonly [form: RegExp, name: string])[] = [
  [/-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]*?(?:-----END \1PRIVATE KEY-----|$)/g, "private key"],
  [/(?<before>\b(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}/gi, "credentials"],
  [
    /(?<before>\bAuthorization\\*["']?\s*[=:]\s*\\*["']?(?:[A-Za-z]+\s+(?=\S)|(?![A-Za-z]+\s+\S)))(?!\[redacted: )[^\s"'\\,;]{4,}/gi,
    "credentials",
  ],
  [/(?<before>\bcurl\s(?:[^\n|;&]{0,100}?\s)?(?:-u|--user)[\s=]+["']?[^\s:"']+:)(?!\[redacted: )[^\s"']+/g, "credentials"],
  [/(?<before>:\/\/)[^\s/@]+(?=@)/g, "credentials"],
  [
    /(?<before>--[\w-]{0,32}(?:api-?key|token|secret|password|passwd)\s+)(?!\[redacted: )(?:"[^"]*"?|'[^']*'?|[^\s"'<>|&;-][^\s"',;&|]*)/gi,
    "secret",
  ],
  [
    /(?<before>(?:api[_-]?key|token|secret|password|passwd)[\w-]{0,32}\\*["']?\s*[=:]\s*)(?!\[redacted: )(?:\\+"[\s\S]*?(?:\\+"|$)|"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?|[^\s"',;&]+)/gi,
    "secret",
  ],
];

const BUILT_IN: readonly SecretFinder[] = [
  ...FORMS.map(
    ([form, name]): SecretFinder =>
      (text) =>
        Array.from(text.matchAll(form), ({ 0: whole, index, groups }) => ({
          start: index + (groups?.["before"]?.length ?? 0),
          end: index + whole.length,
          name,
        })),
  ),
  ...PREFIXES.map((prefix) => findPrefixed({ name: "key", prefix, least: MIN_KEY_LENGTH })),
];

function findLiteral(name: string, literal: string): SecretFinder {
  return (text) => {
    const found: FoundSecret[] = [];
    for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + literal.length))
      found.push({ start: at, end: at + literal.length, name });
    return found;
  };
}

type SecretPrefix = { readonly name: string; readonly prefix: string; readonly least: number };

function findPrefixed({ name, prefix, least }: SecretPrefix): SecretFinder {
  return (text) => {
    const found: FoundSecret[] = [];
    let from = 0;
    for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, Math.max(from, at + 1))) {
      const end = at + prefix.length + runLength(text, at + prefix.length, IN_KEY);
      if (isInWord(text, at) || end - at < prefix.length + least) continue;
      found.push({ start: at, end, name });
      from = end;
    }
    return found;
  };
}

function findKeyed(name: string, key: string): SecretFinder {
  const wanted = lowerAscii(key);
  return (text) => {
    const among = lowerAscii(text);
    const found: FoundSecret[] = [];
    let from = 0;
    for (let at = among.indexOf(wanted); at !== -1; at = among.indexOf(wanted, Math.max(from, at + 1))) {
      const value = isInWord(text, at) ? undefined : valueAfter(text, at + key.length);
      if (!value) continue;
      found.push({ ...value, name });
      from = value.end;
    }
    return found;
  };
}

function valueAfter(text: string, at: number): { readonly start: number; readonly end: number } | undefined {
  const start = at + runLength(text, at, SIGN);
  const end = start + runLength(text, start, VALUE);
  return start === at || start === end || text.startsWith(PLACEHOLDER_START, start) ? undefined : { start, end };
}

const SIGN = /\\*["']?\s{0,8}[=:]\s{0,8}|/y;
const VALUE = /\\+"[\s\S]*?(?:\\+"|$)|"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?|[^\s,;&]*/y;
const IN_KEY = /[A-Za-z0-9_.~+/=-]*/y;

function runLength(text: string, at: number, run: RegExp): number {
  run.lastIndex = at;
  return run.exec(text)?.[0].length ?? 0;
}

function isInWord(text: string, at: number): boolean {
  return at > 0 && /[A-Za-z0-9]/.test(text.charAt(at - 1));
}

/** Keeps the length. */
function lowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

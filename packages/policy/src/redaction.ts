import type { RedactionPattern, Settings } from "./settings/settings.ts";

/** Hides secrets of known forms, and those that settings add, in a text for a log. What is hidden leaves the name of its form behind. */
export function redactor(patterns: Settings["redaction.patterns"]): (text: string) => string {
  const steps = [...patterns.flatMap(stepsOf), ...BUILT_IN];
  return (text) => steps.reduce((left, step) => step(left), text);
}

type Step = (text: string) => string;

function stepsOf({ name, literal, prefix, key }: RedactionPattern): readonly Step[] {
  return [
    ...(literal ? [(text: string) => text.replaceAll(literal, () => hidden(name))] : []),
    ...(prefix ? [prefixed({ name, prefix, least: 1 })] : []),
    ...(key ? [keyed(name, key)] : []),
  ];
}

const HIDDEN = "[redacted: ";

function hidden(name: string): string {
  return `${HIDDEN}${name}]`;
}

/** Beginnings of keys that services give out. Shorter ones are no keys. */
const PREFIXES: readonly string[] = [
  ...["sk-", "sk_live_", "sk_test_", "rk_live_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "pypi-"],
  ...["xoxb-", "xoxp-", "xoxa-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "hf_", "dop_v1_", "eyJ"],
];
const LEAST = 8;

const FORMS: readonly (readonly [form: RegExp, left: string])[] = [
  [/-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]*?(?:-----END \1PRIVATE KEY-----|$)/g, hidden("private key")],
  [/\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/=-]{8,}/gi, `$1$2${hidden("credentials")}`],
  [/(:\/\/)[^\s/@]+@/g, `$1${hidden("credentials")}@`],
  [
    /((?:api[_-]?key|token|secret|password|passwd)[\w-]{0,32}\\*["']?\s*[=:]\s*)(?!\[redacted: )(?:\\+"[\s\S]*?(?:\\+"|$)|"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?|[^\s"',;&]+)/gi,
    `$1${hidden("secret")}`,
  ],
];

const BUILT_IN: readonly Step[] = [
  ...FORMS.map(
    ([form, left]): Step =>
      (text) =>
        text.replace(form, left),
  ),
  ...PREFIXES.map((prefix) => prefixed({ name: "key", prefix, least: LEAST })),
];

type Prefixed = { readonly name: string; readonly prefix: string; readonly least: number };

/** A word that begins so, to its end. */
function prefixed({ name, prefix, least }: Prefixed): Step {
  return (text) => {
    let told = "";
    let from = 0;
    for (let at = text.indexOf(prefix); at !== -1; at = text.indexOf(prefix, Math.max(from, at + 1))) {
      const end = at + prefix.length + runLength(text, at + prefix.length, IN_KEY);
      if (isInWord(text, at) || end - at < prefix.length + least) continue;
      told += text.slice(from, at) + hidden(name);
      from = end;
    }
    return told + text.slice(from);
  };
}

/** What stands behind this name, `=` or `:` between them. */
function keyed(name: string, key: string): Step {
  const wanted = folded(key);
  return (text) => {
    const among = folded(text);
    let told = "";
    let from = 0;
    for (let at = among.indexOf(wanted); at !== -1; at = among.indexOf(wanted, Math.max(from, at + 1))) {
      const value = isInWord(text, at) ? undefined : valueAfter(text, at + key.length);
      if (!value) continue;
      told += text.slice(from, value.start) + hidden(name);
      from = value.end;
    }
    return told + text.slice(from);
  };
}

/** `=x`, `: "x y"`, `": x`; what is hidden already is left as it is. */
function valueAfter(text: string, at: number): { readonly start: number; readonly end: number } | undefined {
  const start = at + runLength(text, at, SIGN);
  const end = start + runLength(text, start, VALUE);
  return start === at || start === end || text.startsWith(HIDDEN, start) ? undefined : { start, end };
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

/** Of the same length, whatever the letters are. */
function folded(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

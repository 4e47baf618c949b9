/** Names of the characters from U+00A0 on, in order. */
const LATIN =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest " +
  "Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig " +
  "agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

/** Names of the Greek letters from U+0391 on; a dash where there is none. */
const GREEK =
  "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi Omega - - - - - - - " +
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega";

const OTHERS: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  OElig: "Œ",
  oelig: "œ",
  Scaron: "Š",
  scaron: "š",
  Yuml: "Ÿ",
  fnof: "ƒ",
  circ: "ˆ",
  tilde: "˜",
  ensp: " ",
  emsp: " ",
  thinsp: " ",
  zwnj: "",
  zwj: "",
  lrm: "",
  rlm: "",
  ndash: "–",
  mdash: "—",
  horbar: "―",
  lsquo: "‘",
  rsquo: "’",
  sbquo: "‚",
  ldquo: "“",
  rdquo: "”",
  bdquo: "„",
  dagger: "†",
  Dagger: "‡",
  bull: "•",
  hellip: "…",
  permil: "‰",
  prime: "′",
  Prime: "″",
  lsaquo: "‹",
  rsaquo: "›",
  oline: "‾",
  frasl: "⁄",
  euro: "€",
  trade: "™",
  larr: "←",
  uarr: "↑",
  rarr: "→",
  darr: "↓",
  harr: "↔",
  rArr: "⇒",
  hArr: "⇔",
  forall: "∀",
  part: "∂",
  exist: "∃",
  empty: "∅",
  nabla: "∇",
  isin: "∈",
  notin: "∉",
  prod: "∏",
  sum: "∑",
  minus: "−",
  lowast: "∗",
  radic: "√",
  infin: "∞",
  and: "∧",
  or: "∨",
  cap: "∩",
  cup: "∪",
  int: "∫",
  asymp: "≈",
  ne: "≠",
  equiv: "≡",
  le: "≤",
  ge: "≥",
  sub: "⊂",
  sup: "⊃",
  check: "✓",
  lbrace: "{",
  rbrace: "}",
  lbrack: "[",
  rbrack: "]",
  lpar: "(",
  rpar: ")",
  num: "#",
  ast: "*",
  lowbar: "_",
  grave: "`",
  vert: "|",
  bsol: "\\",
  sol: "/",
  colon: ":",
  semi: ";",
  comma: ",",
  period: ".",
  excl: "!",
  quest: "?",
  equals: "=",
  plus: "+",
  dollar: "$",
  percnt: "%",
  commat: "@",
  Tab: "\t",
  NewLine: "\n",
};

const NAMED: ReadonlyMap<string, string> = new Map([...inOrder(LATIN, 0xa0), ...inOrder(GREEK, 0x391), ...Object.entries(OTHERS)]);

/** What pages mean by the numbers 128 to 159. */
const WINDOWS = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

const REFERENCE = /&(?:#\d{1,8};?|#[xX][0-9a-fA-F]{1,8};?|[A-Za-z][A-Za-z0-9]{1,30};)/g;

/** Replaces character references by what they stand for; one that is not known stays as it is written. */
export function decodeEntities(text: string): string {
  return text.includes("&") ? text.replaceAll(REFERENCE, meaningOf) : text;
}

function meaningOf(reference: string): string {
  const inner = reference.endsWith(";") ? reference.slice(1, -1) : reference.slice(1);
  if (!inner.startsWith("#")) return NAMED.get(inner) ?? reference;
  return numbered(/^#[xX]/.test(inner) ? Number.parseInt(inner.slice(2), 16) : Number(inner.slice(1)));
}

function numbered(code: number): string {
  if (code >= 128 && code < 160) return WINDOWS[code - 128] ?? "�";
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "�";
}

function inOrder(names: string, first: number): readonly (readonly [name: string, text: string])[] {
  return names.split(" ").flatMap((name, at) => (name === "-" ? [] : [[name, String.fromCodePoint(first + at)] as const]));
}

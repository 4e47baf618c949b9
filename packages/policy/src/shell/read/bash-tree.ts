import {
  type ArrayValue,
  type Assignment,
  type Command,
  type ParsedScript,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from "unbash";
import type { Hazard, HazardId, Redirection as PlanRedirection, PlanWord } from "../plan/plan.ts";

/** A word as rules see it, and its text without quotes. */
export type ShellWord = { readonly word: PlanWord; readonly value: string; readonly hazards: readonly Hazard[] };

/** A command's input, as far as a shell could read its program from there. */
export type Stdin =
  | { readonly kind: "pipe"; readonly text?: string }
  | { readonly kind: "text"; readonly text: string; readonly literal: boolean }
  | { readonly kind: "other" };

export type CommandShape = {
  readonly words: readonly ShellWord[];
  readonly assignments: readonly { readonly name: string; readonly value: ShellWord }[];
  readonly redirections: readonly PlanRedirection[];
  readonly hazards: readonly Hazard[];
  /** Undefined: inherited. */
  readonly stdin: Stdin | undefined;
  /** To be searched for substitutions. */
  readonly nested: readonly SyntaxNode[];
  readonly doubt?: string;
};

/** Parses a text. Undefined: the parser failed. */
export function parseBash(text: string): ParsedScript | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

export function literalWord(text: string): ShellWord {
  return { word: { text, dynamic: false }, value: text, hazards: NONE };
}

/** A word that is only known at run time. */
export function dynamicWord(text: string, value: string = text): ShellWord {
  return { word: { text, dynamic: true }, value, hazards: NONE };
}

const NONE: readonly Hazard[] = [];

/** Whether a word stays one word: all expansions are in plain double quotes. */
export function isOneWord(text: string): boolean {
  return ONE_WORD.test(text);
}

const ONE_WORD = /^(?:[\w./:=@%+,^-]|"(?:[^"\\$`@]|\$\w+(?!\w)|\$\{\w+\})*")+$/;

/** Whether a shell may split a word: an expansion is unquoted, or gives several words. */
export function maySplit(text: string): boolean {
  if (isOneWord(text)) return false;
  if (GIVES_SEVERAL.test(text) || (/\$\(|`/.test(text) && text.split('"').length > 3)) return true;
  return /[$`*?[{]/.test(text.replace(QUOTED, ""));
}

const GIVES_SEVERAL = /\$@|\$\{[@!]|\[@\]/;
const QUOTED = /\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"/g;

/** Whether a text has a subscript with a substitution, which some builtins evaluate even if quoted. */
export function hasSubscript(text: string): boolean {
  return text.includes("[") && (text.includes("$(") || text.includes("`"));
}

export function readWord(node: Word): ShellWord {
  const { parts, text, value } = node;
  const isTilde = hasTilde(text);
  if (!parts && hidesCommand(text)) return { word: { text, dynamic: true }, value, hazards: [hiddenHazard(node)] };
  if (!parts) return isTilde ? { word: { text, dynamic: true }, value, hazards: [tildeHazard(node)] } : literalWord(value);
  const kinds = parts.map(classifyPart);
  const hazards = parts.flatMap((part, i) => partHazard(part, kinds[i]));
  if (isTilde) hazards.push(tildeHazard(node));
  if (!isTilde && !kinds.some((kind) => kind !== undefined && kind !== "quoting"))
    return { word: { text: value, dynamic: false }, value, hazards };
  const isGlob = !isTilde && kinds.every((kind) => kind === undefined || kind === "quoting" || kind === "glob");
  return { word: { text: isGlob ? value : text, dynamic: true }, value, hazards };
}

/** Whether an unparsed text has a substitution, so that the parser misread it. */
export function hidesCommand(text: string): boolean {
  return (text.includes("(") || text.includes("`")) && /(?:^|[^\\])(?:\\\\)*(?:[$<>]\(|`)/.test(text);
}

function hiddenHazard(node: Word): Hazard {
  return hazardAt("substitution", `${excerpt(node.text)} may run a command`, node);
}

function partHazard(part: WordPart, kind: PartKind | undefined): readonly Hazard[] {
  return kind === undefined || kind === "glob" ? NONE : [hazardAt(HAZARDS[kind], `${excerpt(part.text)} ${MEANINGS[kind]}`, part)];
}

function hasTilde(text: string): boolean {
  return text.includes("~") && /^(?:~|[A-Za-z_]\w*=(?:.*:)?~)/s.test(text);
}

function tildeHazard(node: Word): Hazard {
  return hazardAt("expansion", `${excerpt(node.text)} is expanded by the shell`, node);
}

/** The strict reader decides whether `*` or `?` may be expanded. */
type PartKind = "expansion" | "substitution" | "glob" | "pattern" | "quoting";

const HAZARDS: Readonly<Record<Exclude<PartKind, "glob">, HazardId>> = {
  expansion: "expansion",
  substitution: "substitution",
  pattern: "brace_or_glob",
  quoting: "unmodelled_construct",
};

const MEANINGS: Readonly<Record<Exclude<PartKind, "glob">, string>> = {
  expansion: "is expanded by the shell",
  substitution: "runs a command",
  pattern: "is expanded by the shell",
  quoting: "uses unusual quoting",
};

function classifyPart(part: WordPart): PartKind | undefined {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return undefined;
    case "DoubleQuoted":
    case "LocaleString":
      return quotedKind(part);
    case "AnsiCQuoted":
      return hasOddEscape(part.text) ? "expansion" : "quoting";
    case "Glob":
      return part.kind === "bracket" ? "pattern" : "glob";
    case "ExtendedGlob":
    case "BraceExpansion":
      return "pattern";
    case "CommandExpansion":
    case "ProcessSubstitution":
      return "substitution";
    default:
      return "expansion";
  }
}

/** Whether a text has escapes that shells and parsers read differently. */
export function hasOddEscape(text: string): boolean {
  return ODD_ESCAPES.test(text);
}

const ODD_ESCAPES =
  /\\(?:x\{|c|x(?![0-9a-fA-F])|x0?0(?![0-9a-fA-F])|0{1,3}(?![0-7])|[uU]0{1,8}(?![0-9a-fA-F]))|\\x[89a-fA-F][0-9a-fA-F]|\\[23][0-7]{2}/;

function quotedKind(part: Extract<WordPart, { type: "DoubleQuoted" | "LocaleString" }>): PartKind | undefined {
  let found: PartKind | undefined = part.type === "LocaleString" ? "quoting" : undefined;
  for (const child of part.parts) {
    if (child.type === "CommandExpansion") return "substitution";
    if (child.type !== "Literal") found = "expansion";
  }
  return found;
}

export function hazardAt(id: HazardId, text: string, node: { readonly pos: number; readonly end: number }): Hazard {
  return { id, text, at: [node.pos, node.end] };
}

function excerpt(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

export function readCommand(node: Command): CommandShape {
  const parts: CommandParts = { words: [], nested: [], hazards: [], assignments: [] };
  const redirects: Redirection[] = [];
  for (const child of node.prefix) {
    if (child.type !== "Assignment") redirects.push(child);
    else {
      const value = readAssignedValue(child);
      parts.assignments.push({ name: child.name, value });
      parts.nested.push(child);
      parts.hazards.push(hazardAt("assignment", `${child.name} is set for the command`, child), ...value.hazards);
    }
  }
  if (node.name) addWord(parts, node.name);
  for (const child of node.suffix) {
    if (child.type === "Word") addWord(parts, child);
    else if (child.type === "Assignment") addArgument(parts, child);
    else redirects.push(child);
  }
  const { words, assignments, hazards, nested } = parts;
  if (redirects.length === 0) return { words, assignments, redirections: NO_REDIRECTIONS, hazards, stdin: undefined, nested };
  const read = readRedirects(redirects);
  return { ...read, words, assignments, hazards: [...hazards, ...read.hazards], nested: [...nested, ...redirects] };
}

type AssignedVariable = { readonly name: string; readonly value: ShellWord };
type CommandParts = {
  readonly words: ShellWord[];
  readonly nested: SyntaxNode[];
  readonly hazards: Hazard[];
  readonly assignments: AssignedVariable[];
};

const NO_REDIRECTIONS: readonly PlanRedirection[] = [];

function addWord({ words, nested, hazards }: CommandParts, node: Word): void {
  const word = readWord(node);
  words.push(word);
  if (word.hazards.length === 0) return;
  nested.push(node);
  for (const one of word.hazards) hazards.push(one);
}

/** `export NAME=value`: a word whose value is read like an assignment's. */
function addArgument({ words, nested, hazards }: CommandParts, node: Assignment): void {
  const { word, value, hazards: found } = readAssignedValue(node);
  const isPlain = !word.dynamic && node.index === undefined && !node.append;
  words.push(isPlain ? literalWord(`${node.name}=${value}`) : dynamicWord(node.text, `${node.name}=${value}`));
  nested.push(node);
  hazards.push(...found);
}

function readAssignedValue({ value }: Assignment): ShellWord {
  return value.type === "Word" ? readWord(value) : readArray(value);
}

function readArray({ elements, ...place }: ArrayValue): ShellWord {
  const words = elements.map(readWord);
  const text = words.map(({ value }) => value).join(" ");
  const array = hazardAt("unmodelled_construct", "Uses an array", place);
  return { word: { text, dynamic: true }, value: text, hazards: [array, ...words.flatMap(({ hazards }) => hazards)] };
}

type RedirectionReading = Pick<CommandShape, "redirections" | "hazards" | "stdin">;

/** Reads redirections and the input that they leave. */
export function readRedirects(nodes: readonly Redirection[]): RedirectionReading {
  const redirections: PlanRedirection[] = [];
  const hazards: Hazard[] = [];
  let stdin: Stdin | undefined;
  for (const node of nodes) {
    const redirection = readRedirect(node);
    redirections.push(redirection);
    hazards.push(...redirectHazards(node, redirection));
    if (redirection.fd === "0") stdin = readStdin(node, redirection);
  }
  return { redirections, hazards, stdin };
}

function readRedirect(node: Redirection): PlanRedirection {
  const { operator: op, descriptor } = node;
  const fd = descriptor ? (descriptor.type === "FileDescriptor" ? String(descriptor.value) : `{${descriptor.name}}`) : defaultFd(op);
  if (node.type === "HereDoc") return { fd, op, target: node.delimiter?.value ?? "", dynamic: node.body.parts !== undefined };
  const target = node.target ? readWord(node.target).word : { text: "", dynamic: true };
  return { fd, op, target: target.text, dynamic: target.dynamic };
}

function defaultFd(op: string): string {
  if (op.startsWith("&")) return "&";
  return op.startsWith("<") ? "0" : "1";
}

const HARMLESS: ReadonlySet<string> = new Set(["2>&1", "1>&2", "1>/dev/null", "2>/dev/null", "0</dev/null"]);

function redirectHazards(node: Redirection, { fd, op, target, dynamic }: PlanRedirection): readonly Hazard[] {
  if (!dynamic && HARMLESS.has(`${fd}${op}${target}`)) return NONE;
  if (/\/dev\/(?:tcp|udp)\//.test(target))
    return [hazardAt("network_redirection", `${op} ${excerpt(target)} opens a network connection`, node)];
  return [hazardAt("redirection", `Uses the redirection ${op} ${excerpt(target)}`, node)];
}

function readStdin(node: Redirection, { target, dynamic }: PlanRedirection): Stdin {
  if (node.type === "HereDoc") {
    const { body, delimiter } = node;
    const text = delimiter?.quoted ? body.text : body.text.replace(/\\([$`\\])|\\\n/g, "$1");
    return { kind: "text", text, literal: body.parts === undefined || isText(body.parts) };
  }
  if (node.type === "HereString") return { kind: "text", text: node.target ? readWord(node.target).value : "", literal: !dynamic };
  const isFile = (node.operator === "<" || node.operator === "<>") && !/^[<>]\(|^\/(?:dev|proc\/self)\/(?:stdin|fd\/)/.test(target);
  return { kind: isFile ? "other" : "pipe" };
}

function isText(parts: readonly WordPart[]): boolean {
  return parts.every(({ type }) => type === "Literal");
}

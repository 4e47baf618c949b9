import {
  type AndOr,
  type ArithmeticCommandExpansion,
  type CommandExpansionPart,
  forEachChild,
  type ParsedScript,
  type Pipeline,
  type PipelineNode,
  type ProcessSubstitutionPart,
  type Redirected,
  type Statement,
  type SyntaxNode,
  type TestBinaryExpression,
  type TestUnaryExpression,
} from "unbash";
import type { Hazard, PlanWord } from "../plan/plan.ts";
import {
  type CommandShape,
  hasSubscript,
  hazardAt,
  hidesCommand,
  readCommand,
  readRedirects,
  readWord,
  type ShellWord,
  type Stdin,
} from "../read/bash-tree.ts";
import { evaluatedText, expandsAgain, isEvaluated } from "../read/evaluated.ts";
import type { Join } from "../read/strict-reader.ts";
import { splitTolerant } from "../read/tolerant-split.ts";

/** How deep constructs, substitutions and wrappers may be nested. */
export const DEEPEST = 100;

export type TextRange = readonly [start: number, end: number];

export type WalkContext = {
  readonly path: readonly string[];
  readonly hazards: readonly Hazard[];
  readonly stdin: Stdin | undefined;
  readonly depth: number;
  /** Undefined: not at the top level. */
  readonly join: Join | undefined;
  /** Index of the containing command, and whether that was a guess. */
  readonly inside: number | undefined;
  readonly guess: boolean;
  /** The text in which positions count. */
  readonly text: string;
  /** Set if positions count in another text. */
  readonly at: TextRange | undefined;
  /** Quotes protect nothing here. */
  readonly evaluated: boolean;
  readonly movedTo: PlanWord | undefined;
};

/** A part of the line that is not examined yet. */
export type WalkTask = { readonly around: WalkContext } & (
  | { readonly node: SyntaxNode }
  | { readonly command: CommandShape; readonly openEnd: boolean; readonly at: TextRange | undefined }
  | { readonly script: string }
  | { /** A range with a syntax error. */ readonly broken: TextRange }
  | { readonly hazard: Hazard }
);

/** Takes off one layer of the tree, in text order. */
export function unfold(node: SyntaxNode, around: WalkContext): readonly WalkTask[] {
  switch (node.type) {
    case "Script":
      return scriptTasks(node, around);
    case "CompoundList":
      return listTasks(node.commands, around);
    case "Statement":
      return [statementTask(node, around)];
    case "AndOr":
      return andOrTasks(node, around);
    case "Pipeline":
      return pipelineTasks(node, around);
    case "Command":
      return [nodeTask(node, around)];
    case "Redirected":
      return redirectedTasks(node, around);
    case "CommandExpansion":
    case "ArithmeticCommandExpansion":
    case "ProcessSubstitution":
      return substitutionTasks(node, around);
    case "HereDoc":
      return node.delimiter?.quoted ? [] : [{ node: node.body, around: nestContext(around, "heredoc") }];
    case "TestUnary":
    case "TestBinary":
      return [...testTasks(node, around), ...childTasks(node, around)];
    default:
      return otherTasks(node, around);
  }
}

export function nestContext({ path, hazards, stdin, depth, inside, text, at, movedTo }: WalkContext, label: string): WalkContext {
  const within = [...path, label];
  const deeper = depth + 1;
  const join = undefined;
  return { path: within, hazards, stdin, depth: deeper, join, inside, guess: false, text, at, evaluated: false, movedTo };
}

const BACKGROUND: Hazard = { id: "background", text: "The command runs in the background" };

function insideConstruct(around: WalkContext, label: string, one: Hazard): WalkContext {
  return { ...nestContext(around, label), hazards: [...around.hazards, one] };
}

/** The text from the error's line on comes first, so that it is not read twice. */
function scriptTasks(node: ParsedScript, around: WalkContext): readonly WalkTask[] {
  const inside = node.source === undefined ? around : { ...around, text: node.source };
  const tasks = listTasks(node.commands, inside);
  if (!node.errors) return tasks;
  const error = Math.min(...node.errors.map(({ pos }) => pos));
  const line = Math.max(inside.text.lastIndexOf("\n", error - 1) + 1, node.pos);
  return [{ broken: [error === 0 ? 0 : line, node.end], around: inside }, ...tasks];
}

function listTasks(statements: readonly Statement[], around: WalkContext): readonly WalkTask[] {
  if (statements.length === 1) return statements.map((node) => statementTask(node, around));
  return statements.map((node, i) => statementTask(node, nextInList(around, `;[${i}]`, i === 0 ? around.join : ";")));
}

function statementTask({ command, background }: Statement, around: WalkContext): WalkTask {
  return nodeTask(command, background ? insideConstruct(around, "&", BACKGROUND) : around);
}

function nodeTask(node: SyntaxNode, around: WalkContext): WalkTask {
  if (node.type !== "Command") return { node, around };
  return { command: readCommand(node), openEnd: false, at: around.at ?? [node.pos, node.end], around };
}

function nextInList(around: WalkContext, label: string, join: Join | undefined): WalkContext {
  const { path, hazards, stdin, depth, join: outer, inside, text, at, movedTo } = around;
  return { path: [...path, label], hazards, stdin, depth, join: outer && join, inside, guess: false, text, at, evaluated: false, movedTo };
}

function andOrTasks({ commands, operators }: AndOr, around: WalkContext): readonly WalkTask[] {
  return commands.map((node: PipelineNode, i) => {
    const operator = operators[Math.max(0, i - 1)] ?? "&&";
    return nodeTask(node, nextInList(around, `${operator}[${i}]`, i === 0 ? around.join : operator));
  });
}

function pipelineTasks({ commands, operators, prefixes }: Pipeline, around: WalkContext): readonly WalkTask[] {
  let outer = around;
  for (const { type, pos, end } of prefixes) {
    if (outer.depth > DEEPEST) break;
    const word = type === "Time" ? "time" : "!";
    outer = insideConstruct(
      outer,
      word,
      placeHazard(around, hazardAt("unmodelled_construct", `The command is prefixed with ${word}`, { pos, end })),
    );
  }
  if (commands.length === 1) return commands.map((node) => nodeTask(node, outer));
  const isPlain = !operators.includes("|&");
  return commands.map((node, i) => {
    const operator = operators[Math.max(0, i - 1)] ?? "|";
    const join = i === 0 ? outer.join : "|";
    const stage = nextInList(outer, `${operator}[${i}]`, isPlain ? join : undefined);
    return nodeTask(node, i === 0 ? stage : { ...stage, stdin: pipedFrom(commands[i - 1]) });
  });
}

/** What the stage before writes, if that is plain to see. */
function pipedFrom(node: SyntaxNode | undefined): Stdin {
  if (node?.type !== "Command" || (node.name && !SPEAKING.has(node.name.value))) return PIPE;
  const { words, stdin } = readCommand(node);
  const [name, ...rest] = words.map(({ value }) => value);
  const said = rest.filter((word) => !/^-[neE]+$/.test(word));
  if (name === "echo") return { kind: "pipe", text: said.join(" ") };
  if (name === "printf") return { kind: "pipe", text: `${said.join(" ")}\n${said.slice(1).join("\n")}` };
  return name === "cat" && rest.length === 0 && stdin?.kind === "text" ? { kind: "pipe", text: stdin.text } : PIPE;
}

const SPEAKING: ReadonlySet<string> = new Set(["echo", "printf", "cat"]);
const PIPE: Stdin = { kind: "pipe" };

/** A group's redirections belong to a command without words. */
function redirectedTasks({ command, redirects, pos, end }: Redirected, around: WalkContext): readonly WalkTask[] {
  const { redirections, hazards, stdin } = readRedirects(redirects);
  const outer = { ...around, join: undefined };
  const own: CommandShape = { words: [], assignments: [], redirections, hazards, stdin: undefined, nested: redirects };
  const surrounding = [...around.hazards, ...hazards.map((one) => placeHazard(around, one))];
  return [
    { command: own, openEnd: false, at: around.at ?? [pos, end], around: outer },
    { node: command, around: { ...outer, stdin: stdin ?? around.stdin, hazards: surrounding } },
  ];
}

type Substitution = CommandExpansionPart | ArithmeticCommandExpansion | ProcessSubstitutionPart;

function substitutionTasks(node: Substitution, around: WalkContext): readonly WalkTask[] {
  const { script, pos, end } = node;
  const inside = nestContext(around, node.type === "ProcessSubstitution" ? `${node.operator}()` : "$()");
  if (!script) return [{ broken: [pos + 1, end], around: inside }];
  return [{ node: script, around: script.source === undefined ? inside : withPosition(inside, node) }];
}

/** A quoted subscript in a test is evaluated. */
function testTasks(node: TestUnaryExpression | TestBinaryExpression, around: WalkContext): readonly WalkTask[] {
  const words = node.type === "TestUnary" ? [node.operand] : [node.left, node.right];
  return words
    .map(readWord)
    .filter(({ word, value }) => !word.dynamic && hasSubscript(value))
    .map(({ value }) => ({ script: `: ${value}`, around: withPosition(nestContext(around, "[["), node) }));
}

const CONSTRUCTS: Readonly<Partial<Record<SyntaxNode["type"], readonly [label: string, meaning: string]>>> = {
  Subshell: ["(", "a subshell"],
  BraceGroup: ["{", "a group"],
  If: ["if", "an if statement"],
  For: ["for", "a loop"],
  ArithmeticFor: ["for", "a loop"],
  Select: ["select", "a loop"],
  While: ["while", "a loop"],
  Case: ["case", "a case statement"],
  Function: ["function", "a function"],
  Coproc: ["coproc", "a coprocess"],
  TestCommand: ["[[", "a test"],
  ArithmeticCommand: ["((", "an arithmetic command"],
};

function otherTasks(node: SyntaxNode, around: WalkContext): readonly WalkTask[] {
  const known = CONSTRUCTS[node.type];
  if (!known) return childTasks(node, around);
  const [label, meaning] = known;
  const one = placeHazard(around, hazardAt("unmodelled_construct", `The command is inside ${meaning}`, node));
  const inside = insideConstruct(around, label, one);
  if (node.type === "TestCommand") return [{ hazard: one, around }, ...childTasks(node, inside)];
  if (node.type !== "ArithmeticCommand") return childTasks(node, inside);
  const body = LIKE_A_COMMAND.test(node.body) ? [{ script: node.body, around: withPosition(inside, node) }] : [];
  return [{ hazard: one, around }, ...childTasks(node, inside), ...body];
}

function withPosition(around: WalkContext, { pos, end }: { readonly pos: number; readonly end: number }): WalkContext {
  return around.at ? around : { ...around, at: [pos, end] };
}

/** Without arithmetic commands, `((a b))` is `a b` in two subshells. */
const LIKE_A_COMMAND = /^\s*(?!\d)[\w./'"\\]+(?:\s+(?:-\w|[\w./'"$])|\s*$)/;

/** If there are no parts but the text has a substitution, the parser misread it. */
function childTasks(node: SyntaxNode, around: WalkContext): readonly WalkTask[] {
  const tasks: WalkTask[] = [...evaluatedTasks(node, around)];
  const evaluated = around.evaluated ? around : { ...around, evaluated: true };
  forEachChild(node, (child) => tasks.push({ node: child, around: isEvaluated(node, child) ? evaluated : around }));
  return tasks.length === 0 && hidesCommand(textOf(node)) ? [{ broken: [node.pos, node.end], around }] : tasks;
}

/** What the shell evaluates in spite of quotes. */
function evaluatedTasks(node: SyntaxNode, around: WalkContext): readonly WalkTask[] {
  const text = expandsAgain(node) ? "" : around.evaluated ? evaluatedText(node) : undefined;
  if (text === undefined) return [];
  const inside = withPosition(nestContext(around, "$()"), node);
  const unknown = { ...commandFromWords([]), doubt: "What the shell evaluates here is only known at run time" };
  return [unknown, ...splitTolerant(text).map(commandFromWords)].map((command) => ({
    command,
    openEnd: false,
    at: inside.at,
    around: inside,
  }));
}

function textOf(node: SyntaxNode): string {
  if (node.type === "SingleQuoted" || node.type === "AnsiCQuoted" || node.type === "HereDocDelimiter") return "";
  if ("text" in node) return node.text;
  return node.type === "ArithmeticWord" ? node.value : node.type === "ArithmeticCommand" ? node.body : "";
}

export function placeHazard({ at }: WalkContext, one: Hazard): Hazard {
  return at ? { ...one, at } : one;
}

/** A command made of words that were found inside another. */
export function commandFromWords(words: readonly ShellWord[]): CommandShape {
  return { words, assignments: [], redirections: [], hazards: words.flatMap(({ hazards }) => hazards), stdin: undefined, nested: [] };
}

import type { Hazard } from "../plan/plan.ts";
import { PROGRAMS } from "../programs/table.ts";
import { type CommandShape, literalWord, parseBash, type ShellWord } from "../read/bash-tree.ts";
import { splitTolerant } from "../read/tolerant-split.ts";
import { findLateDoubts } from "./late-doubts.ts";
import type { SeenCommand, WalkResult } from "./seen-command.ts";
import { commandFromWords, DEEPEST, nestContext, placeHazard, type TextRange, unfold, type WalkContext, type WalkTask } from "./unfold.ts";
import type { InnerPart } from "./unwrap/unwrapped.ts";
import { variableScript } from "./unwrap/variables.ts";
import { unwrap } from "./unwrap.ts";

/** Scripts, including guesses at a wrapper's words. */
const MOST_SCRIPTS = 200;
/** Characters of these scripts and their substitutions. */
const MOST_CHARACTERS = 32_768;
const MOST_COMMANDS = 4_096;
/** Nodes of the tree and words of commands. */
const MOST_STEPS = 8_192;

/** Everything that a text of bash would run, as far as that is known without running it. Never throws. `plain`: the strict reader accepted the text, so no word contains a line continuation. */
export function walkBash(text: string, plain = false): WalkResult {
  const walk = walkText(text);
  if (!plain && text.includes("\\\n")) addContinued(walk, text);
  const { commands, parsed, limited, hazards } = walk;
  return { commands, parsed, limited, hazards };
}

type WalkState = {
  readonly commands: SeenCommand[];
  readonly hazards: Hazard[];
  readonly tasks: WalkTask[];
  readonly broken: { readonly text: string; readonly start: number; readonly end: number }[];
  parsed: boolean;
  limited: boolean;
  tops: number;
  scripts: number;
  characters: number;
  steps: number;
};

function walkText(text: string): WalkState {
  const walk: WalkState = {
    commands: [],
    hazards: [],
    tasks: [],
    broken: [],
    parsed: true,
    limited: false,
    tops: 0,
    scripts: -1, // the text itself doesn't count
    characters: 0,
    steps: 0,
  };
  const around: WalkContext = {
    path: [],
    hazards: [],
    stdin: undefined,
    depth: 0,
    join: "start",
    inside: undefined,
    guess: false,
    text,
    at: undefined,
    evaluated: false,
    movedTo: undefined,
  };
  walk.tasks.push({ script: text, around });
  try {
    runTasks(walk);
  } catch {
    // The parser reads substitutions lazily and may fail here, too.
    walk.tasks.length = 0;
    readBroken(walk, [0, text.length], around);
    finishWalk(walk);
  }
  return walk;
}

function finishWalk(walk: WalkState): void {
  try {
    runTasks(walk);
  } catch {
    walk.limited = true;
  }
}

function runTasks(walk: WalkState): void {
  for (let task = walk.tasks.pop(); task; task = walk.tasks.pop()) {
    countSteps(walk, task);
    if (isSpent(walk)) return;
    if (task.around.depth > DEEPEST) walk.limited = true;
    else runTask(walk, task);
  }
}

function runTask(walk: WalkState, task: WalkTask): void {
  if ("node" in task) pushAll(walk, unfold(task.node, task.around));
  else if ("command" in task) addCommand(walk, task);
  else if ("script" in task) readScript(walk, task.script, task.around);
  else if ("broken" in task) readBroken(walk, task.broken, task.around);
  else walk.hazards.push(task.hazard);
}

function countSteps(walk: WalkState, task: WalkTask): void {
  walk.steps += "command" in task ? 1 + task.command.words.length : 1;
  if ("command" in task && task.around.guess) walk.scripts++;
  if ("node" in task && SUBSTITUTIONS.has(task.node.type)) walk.characters += task.node.end - task.node.pos;
}

/** The parser parses these anew each time. */
const SUBSTITUTIONS: ReadonlySet<string> = new Set(["CommandExpansion", "ArithmeticCommandExpansion", "ProcessSubstitution"]);

function isSpent(walk: WalkState): boolean {
  const { scripts, characters, steps, commands } = walk;
  const spent = scripts > MOST_SCRIPTS || characters > MOST_CHARACTERS || steps > MOST_STEPS || commands.length >= MOST_COMMANDS;
  if (!spent) return false;
  walk.limited = true;
  walk.tasks.length = 0;
  return true;
}

/** Tasks are a stack, so the first is pushed last. */
function pushAll({ tasks }: WalkState, more: readonly WalkTask[]): void {
  for (let i = more.length - 1; i >= 0; i--) {
    const task = more[i];
    if (task) tasks.push(task);
  }
}

function readScript(walk: WalkState, text: string, around: WalkContext): void {
  walk.characters += text.length;
  walk.scripts++;
  if (isSpent(walk)) return;
  const script = parseBash(text);
  if (script) walk.tasks.push({ node: script, around: { ...around, text } });
  else readBroken(walk, [0, text.length], { ...around, text });
}

const UNPARSED: Hazard = { id: "unparsed", text: "The command can't be parsed" };

/** Splits text with an error tolerantly; no range is read twice. */
function readBroken(walk: WalkState, [start, end]: TextRange, around: WalkContext): void {
  walk.parsed = false;
  if (!walk.hazards.includes(UNPARSED)) walk.hazards.push(UNPARSED);
  const { text } = around;
  if (walk.broken.some((done) => done.text === text && done.start <= start && end <= done.end)) return;
  walk.broken.push({ text, start, end });
  const inside = { ...nestContext(around, "unparsed"), hazards: [...around.hazards, UNPARSED] };
  const commands = splitTolerant(text.slice(start, end));
  pushAll(
    walk,
    commands.map((words) => ({ command: commandFromWords(words), openEnd: false, at: around.at, around: inside })),
  );
}

function addCommand(walk: WalkState, { command, openEnd, at, around }: Extract<WalkTask, { command: CommandShape }>): void {
  const { words, assignments, redirections, nested: nodes } = command;
  const stdin = command.stdin ?? around.stdin;
  const found = unwrap(around.path.at(-1) === "time" ? withTime(words) : words, { stdin, openEnd });
  const seen: Writable<SeenCommand> = {
    argv: words.map(({ word }) => word),
    path: around.path,
    assignments: assignments.length === 0 ? NO_ASSIGNMENTS : assignments.map(({ name, value }) => ({ name, dynamic: value.word.dynamic })),
    redirections,
    hazards: collectHazards(command, around, found?.hazards),
    doubts: collectDoubts(command, found?.doubts),
    openEnd,
  };
  if (around.join !== undefined) {
    seen.top = walk.tops++;
    seen.join = around.join;
  }
  if (around.inside !== undefined) seen.inside = around.inside;
  if (around.movedTo) seen.movedTo = around.movedTo;
  if (at) seen.at = at;
  walk.commands.push(seen);
  const inner = found?.inner ?? NO_INNER;
  if (inner.length + nodes.length + assignments.length > 0)
    addInnerTasks(walk, { command, around: { ...around, join: undefined, stdin }, inner, at });
}

function collectDoubts(command: CommandShape, more: readonly string[] = NO_DOUBTS): readonly string[] {
  const { words, doubt } = command;
  if (doubt !== undefined) return [doubt];
  const late = findLateDoubts(command);
  const known = late.length === 0 ? more : [...more, ...late];
  return words[0]?.word.dynamic ? [UNKNOWN_NAME, ...known] : known;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type InnerParts = {
  readonly command: CommandShape;
  readonly around: WalkContext;
  readonly inner: readonly InnerPart[];
  readonly at: WalkContext["at"];
};

function addInnerTasks(walk: WalkState, { command, around, inner, at }: InnerParts): void {
  const inside = { ...around, inside: walk.commands.length - 1, movedTo: undefined, at };
  const { nested: nodes, assignments } = command;
  if (nodes.length > 0)
    pushAll(
      walk,
      nodes.map((node) => ({ node, around })),
    );
  if (assignments.length > 0) pushAll(walk, variableTasks(command, inside));
  if (inner.length > 0)
    pushAll(
      walk,
      takeAffordable(walk, inner).flatMap((one) => tasksForInner(one, inside)),
    );
}

function takeAffordable(walk: WalkState, inner: readonly InnerPart[]): readonly InnerPart[] {
  let left = MOST_STEPS - walk.steps;
  const end = inner.findIndex((one) => {
    left -= "words" in one ? one.words.length - one.from : 1;
    return left < 0;
  });
  if (end === -1) return inner;
  walk.limited = true;
  return inner.slice(0, end);
}

const NO_ASSIGNMENTS: SeenCommand["assignments"] = [];
const NO_INNER: readonly InnerPart[] = [];
const NO_HAZARDS: readonly Hazard[] = [];

/** An option after `time` belongs to it. */
function withTime(words: readonly ShellWord[]): readonly ShellWord[] {
  return words[0]?.value.startsWith("-") ? [literalWord("time"), ...words] : words;
}

const UNKNOWN_NAME = "The command's name is only known at run time";
const NO_DOUBTS: readonly string[] = [];

function tasksForInner(inner: InnerPart, around: WalkContext): readonly WalkTask[] {
  const inside = { ...nestContext(around, inner.label), movedTo: inner.directory?.word };
  if ("script" in inner) return [{ script: inner.script, around: inside }];
  const { words, from, openEnd = false, guess = false } = inner;
  if (from >= words.length || (guess && around.guess)) return [];
  return [{ command: commandFromWords(words.slice(from)), openEnd, at: around.at, around: { ...inside, guess } }];
}

/** `PROMPT_COMMAND=…` before a command. */
function variableTasks({ assignments }: CommandShape, around: WalkContext): readonly WalkTask[] {
  return assignments.flatMap(({ name, value }) => {
    const script = variableScript(name, value.value);
    return script === undefined ? [] : [{ script, around: nestContext(around, `${name}=`) }];
  });
}

function collectHazards({ words, hazards }: CommandShape, around: WalkContext, more: readonly Hazard[] | undefined): readonly Hazard[] {
  const found = words.some(({ word, value }) => word.dynamic || NOT_ASCII.test(value))
    ? words.flatMap((_, i) => wordHazard(words, i, around) ?? [])
    : NO_HAZARDS;
  const own = found.length === 0 ? hazards : [...hazards, ...found];
  if (own.length === 0 && !more?.length) return around.hazards;
  return [...around.hazards, ...own.map((one) => placeHazard(around, one)), ...(more ?? [])];
}

function wordHazard(words: readonly ShellWord[], i: number, { join }: WalkContext): Hazard | undefined {
  const { word, value, hazards } = words[i] ?? literalWord("");
  if (i === 0 && word.dynamic) return { id: "dynamic_name", text: UNKNOWN_NAME };
  if (NOT_ASCII.test(value) && (i === 0 || value.startsWith("-") || (i === 1 && PROGRAMS.get(words[0]?.value ?? "")?.match?.subcommands)))
    return { id: "confusable", text: `${value} uses letters that can look like others` };
  const isGlob = word.dynamic && join === undefined && hazards.length === 0 && /[*?]/.test(word.text);
  return isGlob ? { id: "brace_or_glob", text: `${word.text} is expanded by the shell` } : undefined;
}

const NOT_ASCII = /[\u0080-\uffff]/;

/** A shell removes line continuations before it reads words, but the parser misses some, so the text is also read without them. */
function addContinued(walk: WalkState, text: string): void {
  const other = walkText(text.replaceAll("\\\n", ""));
  const known = new Set(walk.commands.map(keyOf));
  for (const { argv, path, assignments, redirections, hazards, doubts, openEnd, movedTo } of other.commands) {
    if (known.has(keyOf({ argv, doubts }))) continue;
    walk.commands.push({
      argv,
      path,
      assignments,
      redirections,
      doubts,
      openEnd,
      hazards: hazards.map((one) => ({ id: one.id, text: one.text })),
      ...(movedTo && { movedTo }),
    });
  }
  walk.limited ||= other.limited;
}

function keyOf({ argv, doubts }: Pick<SeenCommand, "argv" | "doubts">): string {
  return JSON.stringify([argv, doubts]);
}

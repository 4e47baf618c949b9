import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from "yaml";
import type { Script } from "./script.ts";

/** An invalid script, with the line. */
export class ScriptError extends Error {
  readonly line: number;
  constructor(file: string, line: number, message: string) {
    super(`${file}:${line}: ${message}`);
    this.name = "ScriptError";
    this.line = line;
  }
}

/** The shape of a value: a word for a scalar, a pair for a list or map, a record of keys for an object. */
type Shape =
  | "string"
  | "number"
  | "boolean"
  | "null"
  | "any"
  | readonly ["list", Shapes]
  | readonly ["map", Shapes]
  | { readonly [key: string]: Shapes };
type Shapes = Shape | readonly ["or", ...Shape[]];

const TEXTS: Shapes = ["or", "string", ["list", "string"]];
const FOUND = { contains: TEXTS, notContains: TEXTS } as const;
const RESULT = { call: "string", outcome: "string", type: "string", ...FOUND } as const;
const NAMES: Shape = ["list", "string"];

const TURN: Shape = {
  say: "string",
  calls: ["list", { tool: "string", input: "any", id: "string", raw: "string" }],
  error: { status: "number", message: "string" },
  delayMs: "number",
  usage: { inputTokens: "number", outputTokens: "number", cachedInputTokens: "number" },
  truncated: "boolean",
  expect: {
    toolChoice: ["or", "string", "null"],
    result: RESULT,
    results: ["list", RESULT],
    reminders: ["list", FOUND],
    notices: ["list", FOUND],
    tools: { has: NAMES, hasNot: NAMES },
    model: "string",
  },
};

const TURNS = { turns: ["list", TURN], allowUnused: "boolean" } as const;
const SCRIPT: Shape = { ...TURNS, capability: "string", agents: ["map", TURNS] };

/** Reads a script in YAML or JSON. Throws `ScriptError` with the line for anything unknown. */
export function readScript(text: string, file: string): Script {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const lineOf = (node: Node | null | undefined): number => lines.linePos(node?.range?.[0] ?? 0).line;
  const [fault] = [...document.errors, ...document.warnings];
  if (fault) throw new ScriptError(file, lines.linePos(fault.pos[0]).line, faultText(fault.message));
  const wrong = (node: Node | null, message: string): never => {
    throw new ScriptError(file, lineOf(node), message);
  };
  refuseReferences(document, wrong);
  check({ node: document.contents, shapes: SCRIPT, path: "script", wrong });
  // Every key and value was checked above.
  const script = document.toJS() as Script;
  if (!Array.isArray(script.turns)) wrong(document.contents, "script needs 'turns'");
  refuseContradictions(script, (path, message) => wrong(asNode(document.getIn(path, true)), message));
  return script;
}

function faultText(message: string): string {
  const [sentence = ""] = message.split("\n", 1);
  return sentence.replace(/ at line \d+, column \d+:?$/, "") || "it is not YAML";
}

/** Refuses aliases, tags and complex keys: the input of a call is plain JSON data. */
function refuseReferences(document: Document, wrong: ShapeCheck["wrong"]): void {
  visit(document, {
    Alias: (_, alias) => wrong(alias, `the alias *${alias.source} is not understood: write the value out`),
    Pair: (_, { key }) => void (isScalar(key) || wrong(asNode(key), "a key must be a name")),
    Value: (_, node) => void (node.tag === undefined || JSON_TAG.test(node.tag) || wrong(node, `the tag ${node.tag} is not understood`)),
  });
}

const JSON_TAG = /^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/;

type ShapeCheck = {
  readonly node: unknown;
  readonly shapes: Shapes;
  readonly path: string;
  readonly wrong: (node: Node | null, message: string) => never;
};

function check({ node, shapes, path, wrong }: ShapeCheck): void {
  const all = isChoice(shapes) ? (shapes.slice(1) as Shape[]) : [shapes];
  const fitting = all.find((shape) => fits(node, shape));
  if (fitting === undefined) wrong(asNode(node), `${path} must be ${all.map(nameOf).join(" or ")}`);
  else checkInside({ node, shapes: fitting, path, wrong });
}

function checkInside({ node, shapes, path, wrong }: ShapeCheck): void {
  if (isSeq(node) && Array.isArray(shapes)) {
    for (const [at, item] of node.items.entries()) check({ node: item, shapes: shapes[1], path: `${path}[${at}]`, wrong });
  } else if (isMap(node) && shapes !== "any") {
    for (const pair of node.items) checkPair({ node: pair.value, shapes, path, wrong }, pair.key);
  }
}

function checkPair({ node, shapes, path, wrong }: ShapeCheck, key: unknown): void {
  const name = isScalar(key) ? String(key.value) : "";
  const inner = Array.isArray(shapes) ? shapes[1] : Object.entries(shapes).find(([known]) => known === name)?.[1];
  if (inner === undefined) wrong(asNode(key), `${path} has no key '${name}'; known are ${Object.keys(shapes).join(", ")}`);
  else check({ node, shapes: inner, path: `${path}.${name}`, wrong });
}

function isChoice(shapes: Shapes): shapes is readonly ["or", ...Shape[]] {
  return Array.isArray(shapes) && shapes[0] === "or";
}

function fits(node: unknown, shape: Shape): boolean {
  if (shape === "any") return true;
  if (typeof shape === "string") return isScalar(node) ? plainName(node.value) === shape : node === null && shape === "null";
  if (Array.isArray(shape)) return shape[0] === "list" ? isSeq(node) : isMap(node);
  return isMap(node);
}

function plainName(value: unknown): string {
  return value === null ? "null" : typeof value;
}

function nameOf(shape: Shape): string {
  if (typeof shape === "string") return shape;
  return Array.isArray(shape) && shape[0] === "list" ? "a list" : "an object";
}

function asNode(node: unknown): Node | null {
  return isScalar(node) || isMap(node) || isSeq(node) ? node : null;
}

/** Refuses scripts that contradict themselves. */
function refuseContradictions(script: Script, wrong: (path: readonly (string | number)[], message: string) => never): void {
  const agents = Object.entries(script.agents ?? {}).map(([name, { turns }]) => ({
    place: ["agents", name],
    called: `agents.${name}`,
    turns,
  }));
  for (const { place, called, turns } of [{ place: [], called: "script", turns: script.turns }, ...agents]) {
    if (!Array.isArray(turns)) wrong(place, `${called} needs 'turns'`);
    for (const [at, turn] of turns.entries())
      refuseTurn(turn, (message) => wrong([...place, "turns", at], `${called}.turns[${at}] ${message}`));
  }
  if (script.capability !== undefined && !["named", "required", "auto"].includes(script.capability))
    wrong(["capability"], "capability must be named, required or auto");
}

function refuseTurn({ error, say, calls, expect }: Script["turns"][number], wrong: (message: string) => never): void {
  if (error && (say !== undefined || calls)) wrong("fails, so it cannot say or call anything");
  if (error && (typeof error.status !== "number" || typeof error.message !== "string")) wrong("fails without a status or a message");
  if (calls?.some((call) => typeof call.tool !== "string")) wrong("has a call without a tool");
  const results = [...(expect?.result ? [expect.result] : []), ...(expect?.results ?? [])];
  if (results.some(({ call }) => typeof call !== "string")) wrong("expects a result without saying of which call");
}

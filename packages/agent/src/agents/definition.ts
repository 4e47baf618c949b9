import { MODES, type Mode } from "@assent/core";
import { isMap, isScalar, LineCounter, type Pair, parseDocument, type YAMLMap } from "yaml";
import { plainFields } from "./plain-fields.ts";

/** An agent as its file defines it. */
export type AgentDefinition = {
  readonly name: string;
  /** Says when to use the agent. */
  readonly description: string;
  /** Null: the model of the session. */
  readonly model: string | null;
  /** Names and globs. Undefined: every tool of the session except `agent`. */
  readonly tools: readonly string[] | undefined;
  readonly disallowedTools: readonly string[];
  /** Null: the mode of the session. */
  readonly mode: Mode | null;
  /** Runs in the background unless a call says otherwise. */
  readonly background: boolean;
  readonly maxTurns: number;
  readonly maxTimeMs: number | undefined;
  readonly prompt: string;
};

/** Why a file does not define an agent. */
export type AgentProblem = { readonly file: string; readonly line: number; readonly message: string };

export type ParsedAgent =
  | { readonly definition: AgentDefinition; readonly warnings: readonly string[] }
  | { readonly problem: Omit<AgentProblem, "file"> };

const LONGEST_PROMPT = 262_144;
const REQUIRED: readonly string[] = ["name", "description"];
const RESERVED: readonly string[] = ["fork", "main"];

/** Parses a definition: YAML front matter, then the prompt. */
export function parseAgent(text: string): ParsedAgent {
  const found = /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!found) return { problem: { line: 1, message: "missing front matter" } };
  const prompt = text.slice(found[0].length).trim();
  const plain = plainFields(found[1] ?? "");
  if (plain && isValid(plain) && Buffer.byteLength(prompt) <= LONGEST_PROMPT) return toDefinition(plain, prompt);
  const lines = new LineCounter();
  const document = parseDocument(found[1] ?? "", { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line + 1;
  const [fault] = document.errors;
  if (fault) return { problem: { line: lineAt(fault.pos[0]), message: fault.message } };
  if (!isMap(document.contents)) return { problem: { line: 2, message: "front matter must be a mapping" } };
  const wrong = findProblem(document.contents, lineAt);
  if (wrong) return { problem: wrong };
  if (Buffer.byteLength(prompt) > LONGEST_PROMPT)
    return { problem: { line: lineAt(found[1]?.length ?? 0) + 2, message: `prompt larger than ${LONGEST_PROMPT} bytes` } };
  return toDefinition(document.toJS(), prompt);
}

type Fields = Readonly<Record<string, unknown>>;

/** Validates each field. Returns what is wrong with a value. */
const FIELDS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  name: (value) => {
    if (typeof value !== "string" || !/^[a-z][a-z0-9_-]{0,63}$/.test(value)) return "name must match ^[a-z][a-z0-9_-]{0,63}$";
    return RESERVED.includes(value) ? `"${value}" is reserved` : undefined;
  },
  description: (value) =>
    typeof value === "string" && value !== "" && value.length <= 1024 ? undefined : "description must be a text of 1 to 1024 characters",
  model: (value) => (typeof value === "string" && value !== "" ? undefined : 'model must be a model id or "inherit"'),
  tools: (value) => (isNames(value) ? undefined : "tools must be a list of names"),
  disallowedTools: (value) => (isNames(value) ? undefined : "disallowedTools must be a list of names"),
  mode: (value) => {
    if (value === "yolo") return 'mode "yolo" is not allowed in an agent definition';
    return value === "inherit" || isMode(value) ? undefined : "mode must be default, plan or auto-edit";
  },
  background: (value) => (typeof value === "boolean" ? undefined : "background must be true or false"),
  maxTurns: (value) => (isWhole(value, 1, 1000) ? undefined : "maxTurns must be an integer from 1 to 1000"),
  maxTimeMs: (value) => (isWhole(value, 1_000, 86_400_000) ? undefined : "maxTimeMs must be an integer from 1000 to 86400000"),
};

function isValid(fields: Fields): boolean {
  const isGood = ([name, value]: [string, unknown]): boolean => FIELDS[name]?.(value) === undefined;
  return REQUIRED.every((name) => Object.hasOwn(fields, name)) && Object.entries(fields).every(isGood);
}

function findProblem(map: YAMLMap, lineAt: (offset: number) => number): Omit<AgentProblem, "file"> | undefined {
  for (const pair of map.items) {
    const message = FIELDS[keyOf(pair)]?.(givenBy(pair));
    if (message !== undefined) return { line: lineAt(rangeOf(pair)), message };
  }
  const missing = REQUIRED.find((name) => !map.has(name));
  return missing === undefined ? undefined : { line: 2, message: `${missing} is missing` };
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : "";
}

function givenBy({ value }: Pair): unknown {
  return typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function" ? value.toJSON() : value;
}

function rangeOf({ key }: Pair): number {
  return isScalar(key) ? (key.range?.[0] ?? 0) : 0;
}

function toDefinition(fields: Fields, prompt: string): ParsedAgent {
  const unknown = Object.keys(fields).filter((name) => !Object.hasOwn(FIELDS, name));
  const { name, description, model, tools, disallowedTools, mode, background, maxTurns, maxTimeMs } = fields;
  return {
    definition: {
      name: String(name),
      description: String(description),
      model: typeof model === "string" && model !== "inherit" ? model : null,
      tools: isNames(tools) ? tools : undefined,
      disallowedTools: isNames(disallowedTools) ? disallowedTools : [],
      mode: isMode(mode) ? mode : null,
      background: background === true,
      maxTurns: typeof maxTurns === "number" ? maxTurns : 100,
      maxTimeMs: typeof maxTimeMs === "number" ? maxTimeMs : undefined,
      prompt,
    },
    warnings: unknown.length === 0 ? [] : [`unknown ${unknown.length === 1 ? "field" : "fields"} ${unknown.join(", ")}`],
  };
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string" && name !== "");
}

function isMode(value: unknown): value is Mode {
  return MODES.some((mode) => mode === value);
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}

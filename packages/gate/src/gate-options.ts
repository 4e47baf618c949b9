import { isAbsolute, resolve } from "node:path";
import {
  type Answer,
  type DecisionNotice,
  type DispatchEvent,
  editDistance,
  type Hooks,
  isObject,
  MODES,
  type Mode,
  messageOf,
  type OpenApproval,
  type RuntimeHandler,
  readPart,
  type Schemas,
} from "@assent/core";
import { HOOK_EVENTS, type HookFunction, type HookPoint, type LoopDetectorOptions } from "@assent/core/parts";
import type { EmbeddedTurn } from "./adapters/embedding.ts";
import { GateUsageError } from "./gate-error.ts";

/** Rules as data, in either notation: `mail:to=*@example.test`, `Shell(git log *)`. */
export type GateRules = { readonly allow?: readonly string[]; readonly ask?: readonly string[]; readonly deny?: readonly string[] };

/**
 * A person's answer. The long form can also remember it, change the input, give a reason or name the person. With `fingerprint`, it counts
 * only for the request that the person saw. If `details.effect` of the approval offers a preview, the outcome `preview` shows it and asks
 * again; `write` with the id of a shown preview writes its changes instead of running the call. `part` applies a part of a proposal.
 */
export type GateAnswer =
  | "approve"
  | "reject"
  | { readonly reject: string }
  | (Pick<Answer, "outcome" | "remember" | "updatedInput" | "reason" | "interrupt" | "fingerprint" | "write" | "part"> & {
      /** The name of the person. Default: the user of this process. */
      readonly by?: string;
    });

/** Asks a person. Without a usable answer, and after a throw, the call is denied. */
export type Approve = (approval: OpenApproval, signal: AbortSignal) => Promise<GateAnswer | undefined>;

/** Hooks of a program, by event. They get and return what hook programs do. */
export type GateHooks = { readonly [Event in HookPoint]?: HookFunction };

/** What listeners of a gate receive. */
export type GateEvent = DispatchEvent | (DecisionNotice & { readonly type: "decided" });

/** Options of `createGate`. All are optional. */
export type GateOptions = {
  /**
   * A directory for the ledger, or a `postgres://` URL, which needs the package `@assent/store-postgres`. Default: the ledger is in memory and ends
   * with the process.
   */
  readonly store?: string;
  /** The id of a session to continue. Default: a new session. */
  readonly session?: string;
  /** The workspace: where relative paths start, and what counts as inside. Default: the current directory. */
  readonly cwd?: string;
  /** How much runs without asking. Default: `default`. */
  readonly mode?: Mode;
  readonly rules?: GateRules;
  /** A settings file with rules, hooks and other settings. It counts together with `rules`. */
  readonly settings?: string;
  /** How people are asked: a function, `park` (wait in the store for an answer from any process), or `deny`. Default: `deny`. */
  readonly approve?: Approve | "park" | "deny";
  /** Functions by event, or the `Hooks` port. */
  readonly hooks?: GateHooks | Hooks;
  /** Bodies of tools that declare a `runtimeHandler`. */
  readonly handlers?: Readonly<Record<string, RuntimeHandler>>;
  /** Detects a model that repeats itself. `true` uses the defaults. Default: off. */
  readonly loop?: LoopDetectorOptions | boolean;
  readonly observe?: (event: GateEvent) => void;
  /** Cancels everything that runs or waits. */
  readonly signal?: AbortSignal;
  /** Compiles JSON Schemas. Default: `ajvSchemas()` of `@assent/host`, loaded with the first such tool. */
  readonly schemas?: Schemas;
};

type OptionCheck = (value: unknown, options: Readonly<Record<string, unknown>>) => string | undefined;

const isFunction = (value: unknown): boolean => typeof value === "function";
const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** What is wrong with each option, as the end of a sentence. */
const CHECKS: Readonly<Record<keyof GateOptions, OptionCheck>> = {
  store: (value) => {
    if (!isText(value)) return "must be the path of a directory or a postgres:// URL";
    return /^\w+:\/\//.test(value) && !isPostgresUrl(value) ? "must be a directory or a postgres:// URL" : undefined;
  },
  session: (value, { store }) => {
    if (!isText(value)) return "must be the id of a session, such as gate.session";
    return store === undefined ? "needs store, the directory or database that has the session" : undefined;
  },
  cwd: (value) => (isText(value) ? undefined : "must be the path of a directory"),
  mode: (value) => (MODES.some((mode) => mode === value) ? undefined : `must be one of ${MODES.join(", ")}`),
  rules: (value) => {
    if (!isObject(value)) return 'must be an object such as { allow: ["mail:to=*@example.test"] }';
    const unknown = Object.keys(value).find((key) => !["allow", "ask", "deny"].includes(key));
    if (unknown !== undefined) return `has no list '${unknown}'; it has allow, ask and deny`;
    const wrong = Object.keys(value).find((key) => value[key] !== undefined && !isTexts(value[key]));
    return wrong === undefined ? undefined : `needs a list of rules in '${wrong}', such as ["mail:to=*@example.test"]`;
  },
  settings: (value) => (isText(value) ? undefined : "must be the path of a settings file"),
  approve: (value, { store }) => {
    if (value === "park" && store === undefined)
      return 'is "park", which needs store: give a directory that keeps the approvals, for example store: "./state"';
    return value === "park" || value === "deny" || isFunction(value) ? undefined : 'must be a function, "park" or "deny"';
  },
  hooks: (value) => {
    if (!isObject(value)) return "must be an object of functions, such as { pre_tool_use: (input) => … }";
    if (isFunction(value["consult"]) && isFunction(value["tell"])) return undefined;
    const unknown = Object.keys(value).find((event) => !Object.hasOwn(HOOK_EVENTS, event));
    if (unknown !== undefined) return `has no event '${unknown}'; the events are ${Object.keys(HOOK_EVENTS).join(", ")}`;
    const wrong = Object.keys(value).find((event) => value[event] !== undefined && !isFunction(value[event]));
    return wrong === undefined ? undefined : `needs a function for ${wrong}`;
  },
  handlers: (value) =>
    isObject(value) && Object.values(value).every(isFunction) ? undefined : "must be an object of functions, by the id in runtimeHandler",
  loop: (value) => (typeof value === "boolean" || isObject(value) ? undefined : "must be true, or an object such as { threshold: 5 }"),
  observe: (value) => (isFunction(value) ? undefined : "must be a function"),
  signal: (value) => (value instanceof AbortSignal ? undefined : "must be an AbortSignal"),
  schemas: (value) =>
    isObject(value) && isFunction(value["compile"]) ? undefined : "must have the function compile, as ajvSchemas() of @assent/host has",
};

/** Checks and copies what a program passed, so that later changes of its object have no effect. Throws `GateUsageError` for the first mistake. */
export function checkGateOptions(given: unknown): GateOptions {
  if (!isObject(given)) throw new GateUsageError("bad_option", "createGate takes an object of options.");
  const options = copyOptions(given);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(CHECKS, name)) throw new GateUsageError("bad_option", `createGate has no option '${name}'.${suggestOption(name)}`);
    const wrong = CHECKS[name as keyof GateOptions](value, options);
    if (wrong !== undefined) throw new GateUsageError("bad_option", `Option '${name}' of createGate ${wrong}.`);
  }
  return options;
}

function copyOptions(given: Readonly<Record<string, unknown>>): Record<string, unknown> & GateOptions {
  try {
    const options = { ...given };
    const { rules, hooks } = options;
    if (isObject(rules))
      options["rules"] = Object.fromEntries(Object.entries(rules).map(([name, list]) => [name, Array.isArray(list) ? [...list] : list]));
    if (isObject(hooks) && !("consult" in hooks)) options["hooks"] = { ...hooks };
    return options;
  } catch (error) {
    throw new GateUsageError("bad_option", `The options of createGate cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

const TURN_CHECKS: Readonly<Record<keyof EmbeddedTurn, (value: unknown) => string | undefined>> = {
  signal: (value) => (value instanceof AbortSignal ? undefined : "must be an AbortSignal"),
  newPrompt: (value) => (typeof value === "boolean" ? undefined : "must be true or false"),
  truncated: (value) => (typeof value === "boolean" ? undefined : "must be true or false"),
};

/** Checks the options of a turn. Throws `GateUsageError`: with a misspelled `signal`, a cancel would not reach the calls. */
export function checkTurn(turn: unknown): void {
  if (!isObject(turn)) throw new GateUsageError("bad_call", "The options of a turn must be an object such as { signal }.");
  for (const [name, value] of Object.entries(turn)) {
    if (!Object.hasOwn(TURN_CHECKS, name))
      throw new GateUsageError("bad_call", `A turn has no option '${name}'. It has ${Object.keys(TURN_CHECKS).join(", ")}.`);
    const wrong = value === undefined ? undefined : TURN_CHECKS[name as keyof EmbeddedTurn](value);
    if (wrong !== undefined) throw new GateUsageError("bad_call", `Option '${name}' of a turn ${wrong}.`);
  }
}

function suggestOption(name: string): string {
  const near = Object.keys(CHECKS).find((option) => editDistance(option, name.toLowerCase(), 3) <= 2);
  return near === undefined ? ` It has ${Object.keys(CHECKS).join(", ")}.` : ` Did you mean '${near}'?`;
}

/** An answer with all its fields. */
export type FullAnswer = Omit<Answer, "approval" | "by"> & { readonly by?: string };

type AnswerField = Exclude<keyof Extract<GateAnswer, { readonly outcome: unknown }>, "outcome">;

/** What is wrong with each field of an answer, as the end of a sentence. */
const ANSWER_CHECKS: Readonly<Record<AnswerField, (value: unknown) => string | undefined>> = {
  remember: (value) => (isObject(value) ? undefined : 'must be an object such as { scope: "session" }'),
  updatedInput: (value) => (isObject(value) ? undefined : "must be the whole new input, an object"),
  reason: (value) => (typeof value === "string" ? undefined : "must be a text"),
  interrupt: (value) => (typeof value === "boolean" ? undefined : "must be true or false"),
  fingerprint: (value) => (isText(value) ? undefined : "must be the fingerprint of the approval that the person saw"),
  write: (value) => (isText(value) ? undefined : "must be the id of the preview that the person saw"),
  part: (value) => {
    const part = readPart(value);
    return typeof part === "string" ? `cannot be read: ${part}` : undefined;
  },
  by: (value) => (isText(value) ? undefined : "must be the name of a person"),
};

/** Reads an answer. Throws `GateUsageError` if it is not one: a misspelled field must not approve something else. */
export function readGateAnswer(given: unknown): FullAnswer {
  const refuse = (what: string): GateUsageError =>
    new GateUsageError("bad_answer", `${what} Answer with "approve", "reject", { reject: "reason" } or { outcome: "approve", … }.`);
  if (given === "approve" || given === "reject") return { outcome: given };
  if (!isObject(given)) throw refuse(`${describeValue(given)} is not an answer.`);
  const { outcome, reject, ...fields } = given;
  if (reject !== undefined) {
    if (typeof reject !== "string" || Object.keys(given).length > 1) throw refuse("An answer with 'reject' has a reason and nothing else.");
    return { outcome: "reject", reason: reject };
  }
  if (outcome !== "approve" && outcome !== "reject" && outcome !== "preview")
    throw refuse(`The outcome ${describeValue(outcome)} is not an answer.`);
  for (const [field, value] of Object.entries(fields)) {
    if (!Object.hasOwn(ANSWER_CHECKS, field))
      throw refuse(`An answer has no field '${field}'; it can have ${Object.keys(ANSWER_CHECKS).join(", ")}.`);
    const wrong = value === undefined ? undefined : ANSWER_CHECKS[field as AnswerField](value);
    if (wrong !== undefined) throw refuse(`Field '${field}' of an answer ${wrong}.`);
  }
  return { ...fields, outcome };
}

function describeValue(value: unknown): string {
  return typeof value === "string"
    ? `'${value.slice(0, 80)}'`
    : typeof value === "object" && value !== null
      ? "An object of this kind"
      : String(value);
}

/** True for `postgres://…`, also if it is malformed. */
export function isPostgresUrl(store: string): boolean {
  return /^postgres(?:ql)?:/i.test(store);
}

/** The directory of a path that a program gave. */
export function absolutePath(path: string): string {
  return isAbsolute(path) ? path : resolve(path);
}

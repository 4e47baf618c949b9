import { isPathUse } from "./check-definition.ts";
import { ToolError } from "./errors.ts";
import type { ConfirmationDetails } from "./model/confirmation.ts";
import { isObject, type JsonObject } from "./model/json/json.ts";
import { normalizeResult, textResult } from "./model/result/normalize.ts";
import type { Display, ToolResult } from "./model/result/result.ts";
import { messageOf } from "./model/result/thrown.ts";
import { cutText } from "./model/text/cut-text.ts";
import type { CallContext, Invocation, Location, Maybe, RunContext, ToolDefinition, ToolOpinion } from "./tool-definition.ts";

type Update = (display: Display) => void;

const UNDECLARED: ToolOpinion = Object.freeze({ verdict: "allow", declared: false });
const VERDICTS: readonly unknown[] = ["allow", "ask", "deny"];
const DETAILS: readonly unknown[] = ["edit", "exec", "mcp", "info", "plan"];
const LONGEST_DESCRIPTION = 200;

type InvocationScope = {
  readonly definition: ToolDefinition;
  readonly ctx: CallContext;
  readonly input: JsonObject;
  /** Problems that do not change the outcome. */
  readonly warnings: string[];
};

/** Binds a validated input to its tool; judges, asks and records nothing. */
export function bindInvocation(
  definition: ToolDefinition,
  ctx: CallContext,
  { input, coercions }: Pick<Invocation, "input" | "coercions">,
): Invocation {
  const bound: InvocationScope = { definition, ctx, input, warnings: [] };
  return Object.freeze({
    input,
    coercions,
    warnings: bound.warnings,
    describe: () => describe(bound),
    locations: () => (definition.locations ? locations(bound) : NO_LOCATIONS),
    permission: async () => (await opinion(bound)).verdict,
    opinion: () => opinion(bound),
    safe: () => definition.safe !== undefined && isSafe(bound),
    ...(definition.fails && { failure: () => certainFailure(bound) }),
    confirmation: async (signal) => (definition.confirm ? await confirmation(bound, signal) : undefined),
    execute: (signal, update, given) => execute(bound, { signal, update }, given),
  });
}

const NO_LOCATIONS: readonly Location[] = Object.freeze([]);

type RunWires = { readonly signal: AbortSignal; readonly update: Update | undefined };

function describe({ definition, input, ctx, warnings }: InvocationScope): string {
  if (definition.describe) {
    try {
      const text: unknown = definition.describe(input, ctx);
      if (typeof text === "string" && text.trim() !== "") return text;
      warnings.push(`Tool '${definition.name}': describe gave no text`);
    } catch (error) {
      warnings.push(`Tool '${definition.name}': describe failed: ${messageOf(error)}`);
    }
  }
  return cutText(`${definition.title ?? definition.name} ${JSON.stringify(input)}`, LONGEST_DESCRIPTION);
}

/** Undefined after a throw or an invalid list, so that no path counts as harmless. */
function locations({ definition, input, ctx, warnings }: InvocationScope): readonly Location[] | undefined {
  try {
    const found: unknown = definition.locations?.(input, ctx);
    const resolved = Array.isArray(found) ? found.map((location) => resolveLocation(ctx.cwd, location)) : [undefined];
    if (resolved.every((location) => location !== undefined)) return resolved;
    warnings.push(`Tool '${definition.name}': locations gave no list of paths`);
  } catch (error) {
    warnings.push(`Tool '${definition.name}': locations failed: ${messageOf(error)}`);
  }
  return undefined;
}

function resolveLocation(cwd: string, location: unknown): Location | undefined {
  if (!isObject(location)) return undefined;
  const { path, line, use, argument } = location as Partial<Record<keyof Location, unknown>>;
  if (typeof path !== "string" || path === "") return undefined;
  return {
    path: resolvePath(cwd, path),
    ...(typeof line === "number" && Number.isInteger(line) && line >= 1 && { line }),
    ...(isPathUse(use) && { use }),
    ...(typeof argument === "string" && { argument }),
  };
}

function opinion({ definition, input, ctx }: InvocationScope): Maybe<ToolOpinion> {
  if (!definition.permission) return UNDECLARED;
  try {
    const answer: unknown = definition.permission(input, ctx);
    return isThenable(answer) ? Promise.resolve(answer).then(readOpinion, failedOpinion) : readOpinion(answer);
  } catch (error) {
    return failedOpinion(error);
  }
}

function readOpinion(answer: unknown): ToolOpinion {
  if (isVerdict(answer)) return { verdict: answer, declared: true };
  const shown = typeof answer === "string" ? `'${cutText(answer, 80)}'` : typeof answer;
  return { verdict: "ask", declared: true, note: `tool permission answered ${shown} instead of allow, ask or deny` };
}

function failedOpinion(error: unknown): ToolOpinion {
  return { verdict: "ask", declared: true, note: `tool permission failed: ${messageOf(error)}` };
}

function isVerdict(answer: unknown): answer is ToolOpinion["verdict"] {
  return VERDICTS.includes(answer);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

function isSafe({ definition, input, ctx, warnings }: InvocationScope): boolean {
  try {
    return definition.safe?.(input, ctx) === true;
  } catch (error) {
    warnings.push(`Tool '${definition.name}': safe failed: ${messageOf(error)}`);
    return false;
  }
}

/** A check that fails itself proves nothing. */
async function certainFailure({ definition, input, ctx, warnings }: InvocationScope): Promise<ToolResult | undefined> {
  try {
    const result = await definition.fails?.(input, ctx);
    return result?.error ? result : undefined;
  } catch (error) {
    warnings.push(`Tool '${definition.name}': fails failed: ${messageOf(error)}`);
    return undefined;
  }
}

async function confirmation({ definition, input, ctx }: InvocationScope, signal: AbortSignal): Promise<ConfirmationDetails | undefined> {
  const details: unknown = await definition.confirm?.(input, ctx, signal);
  if (!isDetails(details)) throw new TypeError("confirm gave no details");
  return details;
}

function isDetails(value: unknown): value is ConfirmationDetails {
  return isObject(value) && DETAILS.includes(value["type"]);
}

/** Runs the body; its display is live only while it runs and if the tool declared `canUpdateOutput`. */
async function execute(bound: InvocationScope, { signal, update }: RunWires, given: Partial<RunContext> = {}): Promise<ToolResult> {
  const { definition, input, ctx, warnings } = bound;
  const { name, run, canUpdateOutput } = definition;
  if (!run) throw new Error(`Tool '${name}' has no body of its own: ${bodyOf(definition)} runs it, inside the runtime.`);
  let isLive = canUpdateOutput === true;
  const show = (display: Display): void => {
    try {
      if (isLive) update?.(display);
    } catch (error) {
      warnings.push(`an observer of the live display failed: ${messageOf(error)}`);
    }
  };
  try {
    return resultOf(bound, await run(input, contextOf(ctx, given, { signal, update: show })));
  } finally {
    isLive = false;
  }
}

function resultOf({ definition, warnings }: InvocationScope, returned: unknown): ToolResult {
  if (typeof returned === "string") return textResult(returned);
  const { result, warnings: dropped } = normalizeResult(definition.name, returned);
  if (dropped.length > 0) warnings.push(...dropped);
  return result;
}

/** The context of a body, with defaults for a run without a runtime. */
function contextOf(ctx: CallContext, given: Partial<RunContext>, wires: Pick<RunContext, "signal" | "update">): RunContext {
  const agentName = given.agentName ?? ctx.agentName;
  const context: RunContext = {
    ...given,
    cwd: given.cwd ?? ctx.cwd,
    callId: given.callId ?? ctx.callId,
    sessionId: given.sessionId ?? ctx.sessionId,
    mode: given.mode ?? "default",
    gate: given.gate ?? noGate,
    attempt: given.attempt ?? 1,
    idempotencyKey: given.idempotencyKey ?? null,
    started: given.started ?? ignoreStart,
    pushPendingAction: given.pushPendingAction ?? stagingUnavailable,
    signal: wires.signal,
    update: wires.update,
  };
  return agentName === undefined ? context : { ...context, agentName };
}

function bodyOf({ runtimeHandler }: ToolDefinition): string {
  return runtimeHandler === undefined ? "staging its preview" : `the handler '${runtimeHandler}'`;
}

async function noGate(): Promise<never> {
  throw new Error("Nested calls need a dispatcher: this tool is run without one.");
}

/** Thrown when a body stages an action and nothing can keep it. */
export function stagingUnavailable(): never {
  throw new ToolError("Pending action store unavailable for custom tools in this runtime.", "staging_unavailable");
}

async function ignoreStart(): Promise<void> {
  // Without a ledger there is no recovery that needs the process.
}

/** Makes a path absolute and removes `.`, `..` and repeated slashes without reading the disk. */
export function resolvePath(cwd: string, path: string): string {
  const steps: string[] = [];
  for (const step of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "" && step !== ".") steps.push(step);
  }
  return `/${steps.join("/")}`;
}

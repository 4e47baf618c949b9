import type { ConfirmationDetails } from "./model/confirmation.ts";
import { isObject, type JsonObject } from "./model/json/json.ts";
import { normaliseResult, textResult } from "./model/result/normalize.ts";
import type { Display, ToolResult } from "./model/result/result.ts";
import { messageOf } from "./model/result/thrown.ts";
import type { Coercion } from "./model/schema/coercion.ts";
import { cutText } from "./model/text/cut-text.ts";
import { resolvePath } from "./model/text/resolve-path.ts";
import type { CallContext, Invocation, Location, Maybe, RunContext, ToolDefinition, ToolOpinion } from "./tool-definition.ts";
import { ToolError } from "./tool-error.ts";

type Update = (display: Display) => void;

const UNDECLARED: ToolOpinion = Object.freeze({ verdict: "allow", declared: false });
const VERDICTS: readonly unknown[] = ["allow", "ask", "deny"];
const DETAILS: readonly unknown[] = ["edit", "exec", "mcp", "info", "plan"];
const LONGEST_DESCRIPTION = 200;

/** A validated input with what it belongs to: what can be asked of it, and how it runs. Nothing here judges, asks a person or records. */
export class BoundInvocation implements Invocation {
  readonly definition: ToolDefinition;
  readonly ctx: CallContext;
  readonly input: JsonObject;
  readonly coercions: readonly Coercion[];
  /** What goes wrong from here on without changing the outcome. */
  readonly warnings: string[] = [];

  constructor(definition: ToolDefinition, ctx: CallContext, { input, coercions }: Pick<Invocation, "input" | "coercions">) {
    this.definition = definition;
    this.ctx = ctx;
    this.input = input;
    this.coercions = coercions;
  }

  describe(): string {
    return describe(this);
  }

  locations(): readonly Location[] | undefined {
    return this.definition.locations ? locations(this) : NOWHERE;
  }

  async permission(): Promise<ToolOpinion["verdict"]> {
    return (await opinion(this)).verdict;
  }

  opinion(): Maybe<ToolOpinion> {
    return opinion(this);
  }

  safe(): boolean {
    return this.definition.safe !== undefined && isSafe(this);
  }

  confirmation(signal: AbortSignal): Promise<ConfirmationDetails | undefined> {
    return this.definition.confirm ? confirmation(this, signal) : Promise.resolve(undefined);
  }

  async execute(signal: AbortSignal, update?: Update, given?: Partial<RunContext>): Promise<ToolResult> {
    return execute(this, signal, { update, given });
  }

  /** The same without a promise where the body waits for nothing. */
  perform(ctx: RunContext): Maybe<ToolResult> {
    return perform(this, ctx, ctx.update);
  }
}

/** The same for whoever is outside: nothing of it can be changed, and each of its functions can be taken by itself. */
export function apart(bound: BoundInvocation): Invocation {
  const { input, coercions, warnings } = bound;
  return Object.freeze({
    input,
    coercions,
    warnings,
    describe: () => bound.describe(),
    locations: () => bound.locations(),
    permission: () => bound.permission(),
    opinion: () => bound.opinion(),
    safe: () => bound.safe(),
    confirmation: (signal: AbortSignal) => bound.confirmation(signal),
    execute: (signal: AbortSignal, update?: Update, ctx?: Partial<RunContext>) => execute(bound, signal, { update, given: ctx }),
  });
}

/** Whether there is nothing to show of a call but what it is: its tool says nothing about it. */
export function hasNoDetails(invocation: Invocation): boolean {
  return invocation instanceof BoundInvocation && !invocation.definition.confirm;
}

const NOWHERE: readonly Location[] = Object.freeze([]);

type Signalled = Partial<RunContext> & Pick<RunContext, "signal">;

function describe({ definition, input, ctx, warnings }: BoundInvocation): string {
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

/** Undefined, for a throw and for any answer that is no list of paths: then no place is known to be harmless. */
function locations({ definition, input, ctx, warnings }: BoundInvocation): readonly Location[] | undefined {
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
  const { path, line } = location;
  if (typeof path !== "string" || path === "") return undefined;
  const resolved = resolvePath(cwd, path);
  return typeof line === "number" && Number.isInteger(line) && line >= 1 ? { path: resolved, line } : { path: resolved };
}

function opinion({ definition, input, ctx }: BoundInvocation): Maybe<ToolOpinion> {
  if (!definition.permission) return UNDECLARED;
  try {
    const answer: unknown = definition.permission(input, ctx);
    return isThenable(answer) ? Promise.resolve(answer).then(heard, failed) : heard(answer);
  } catch (error) {
    return failed(error);
  }
}

function heard(answer: unknown): ToolOpinion {
  if (isVerdict(answer)) return { verdict: answer, declared: true };
  const told = typeof answer === "string" ? `'${cutText(answer, 80)}'` : typeof answer;
  return { verdict: "ask", declared: true, note: `tool permission answered ${told} instead of allow, ask or deny` };
}

function failed(error: unknown): ToolOpinion {
  return { verdict: "ask", declared: true, note: `tool permission failed: ${messageOf(error)}` };
}

function isVerdict(answer: unknown): answer is ToolOpinion["verdict"] {
  return VERDICTS.includes(answer);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** A tool that proves nothing about its input has proven nothing, whatever its kind. */
function isSafe({ definition, input, ctx, warnings }: BoundInvocation): boolean {
  try {
    return definition.safe?.(input, ctx) === true;
  } catch (error) {
    warnings.push(`Tool '${definition.name}': safe failed: ${messageOf(error)}`);
    return false;
  }
}

async function confirmation({ definition, input, ctx }: BoundInvocation, signal: AbortSignal): Promise<ConfirmationDetails | undefined> {
  const details: unknown = await definition.confirm?.(input, ctx, signal);
  if (!isDetails(details)) throw new TypeError("confirm gave no details");
  return details;
}

function isDetails(value: unknown): value is ConfirmationDetails {
  return isObject(value) && DETAILS.includes(value["type"]);
}

type Executing = { readonly update: Update | undefined; readonly given: Partial<RunContext> | undefined };

async function execute(bound: BoundInvocation, signal: AbortSignal, { update, given }: Executing): Promise<ToolResult> {
  return perform(bound, { ...given, signal }, update);
}

function perform(bound: BoundInvocation, given: Signalled, update: Update | undefined): Maybe<ToolResult> {
  const { definition, input, ctx } = bound;
  const { name, run, canUpdateOutput } = definition;
  if (!run) throw new Error(`Tool '${name}' has no body of its own: ${bodyOf(definition)} runs it, inside the runtime.`);
  if (canUpdateOutput === true && update) return performLive(bound, { given, update, run });
  const returned: unknown = run(input, contextOf(ctx, given, ignoreUpdate));
  if (!isThenable(returned)) return resultOf(bound, returned);
  return Promise.resolve(returned).then((value) => resultOf(bound, value));
}

type Live = { readonly given: Signalled; readonly update: Update; readonly run: NonNullable<ToolDefinition["run"]> };

/** The display is live for as long as the body runs. */
async function performLive(bound: BoundInvocation, { given, update, run }: Live): Promise<ToolResult> {
  const { input, ctx, warnings } = bound;
  let over = false;
  const show = (display: Display): void => {
    try {
      if (!over) update(display);
    } catch (error) {
      warnings.push(`an observer of the live display failed: ${messageOf(error)}`);
    }
  };
  try {
    return resultOf(bound, await run(input, contextOf(ctx, given, show)));
  } finally {
    over = true;
  }
}

function resultOf({ definition, warnings }: BoundInvocation, returned: unknown): ToolResult {
  if (typeof returned === "string") return textResult(returned);
  const { result, warnings: dropped } = normaliseResult(definition.name, returned);
  if (dropped.length > 0) warnings.push(...dropped);
  return result;
}

/** What a body is told: what the runtime gives, or what holds where there is none. */
function contextOf(ctx: CallContext, given: Signalled, update: Update): RunContext {
  if (isWhole(given) && given.update === update) return given;
  const agentName = given.agentName ?? ctx.agentName;
  const context: RunContext = {
    ...given,
    cwd: given.cwd ?? ctx.cwd,
    callId: given.callId ?? ctx.callId,
    sessionId: given.sessionId ?? ctx.sessionId,
    gate: given.gate ?? noGate,
    attempt: given.attempt ?? 1,
    idempotencyKey: given.idempotencyKey ?? null,
    started: given.started ?? nobodyToTell,
    pushPendingAction: given.pushPendingAction ?? stagingUnavailable,
    update,
  };
  return agentName === undefined ? context : { ...context, agentName };
}

/** True for what a dispatcher gives: it names the agent itself, where there is one. */
function isWhole(given: Signalled): given is RunContext {
  const { cwd, callId, sessionId, gate, attempt, idempotencyKey, started, pushPendingAction } = given;
  if (cwd === undefined || callId === undefined || sessionId === undefined || gate === undefined) return false;
  return attempt !== undefined && idempotencyKey !== undefined && started !== undefined && pushPendingAction !== undefined;
}

/** What a body that declared no live display calls: nobody listens. */
export function ignoreUpdate(): void {
  // A tool that did not declare `canUpdateOutput` may call update all the same.
}

function bodyOf({ runtimeHandler }: ToolDefinition): string {
  return runtimeHandler === undefined ? "staging its preview" : `the handler '${runtimeHandler}'`;
}

async function noGate(): Promise<never> {
  throw new Error("Nested calls need a dispatcher: this tool is run without one.");
}

/** What a body is told that would stage an action where nothing keeps it. */
export function stagingUnavailable(): never {
  throw new ToolError("Pending action store unavailable for custom tools in this runtime.", "staging_unavailable");
}

async function nobodyToTell(): Promise<void> {
  // Without a ledger there is nobody who needs the process after a crash.
}

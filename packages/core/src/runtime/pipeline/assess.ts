import { decide } from "../../model/decide.ts";
import type { Circumstances, Hint, Safeguard } from "../../model/decision.ts";
import { isObject } from "../../model/json/json.ts";
import { CONCURRENCY_SAFE_KINDS } from "../../model/kind.ts";
import { fingerprintText, type Request } from "../../model/request.ts";
import { messageOf } from "../../model/result/thrown.ts";
import type { Clock, Digest, Facts, Policy, RequestFacts } from "../../ports.ts";
import type { Invocation, Tool, ToolOpinion } from "../../tool-definition.ts";
import { toolDigest } from "../../tool-digest.ts";
import { withTimeLimit } from "../waiting.ts";
import type { Assessment, HookView } from "./judged-call.ts";

export type Judgeable = Pick<Invocation, "input" | "locations" | "opinion" | "safe">;

/** A request and everything its judgement depends on. */
export type AssessmentInput = {
  readonly tool: Tool;
  readonly invocation: Judgeable;
  readonly cwd: string;
  readonly facts: Facts | undefined;
  /** Read last, so that the newest policy applies. */
  readonly policy: () => Policy;
  readonly hook?: HookView | undefined;
  readonly digest: Digest;
  readonly clock: Clock;
  /** Fingerprints of requests that ended unknown and that no person has reviewed since. */
  readonly unknown?: ReadonlySet<string>;
  /** Compute the fingerprint for every verdict. */
  readonly fingerprint?: boolean;
};

const PERMISSION_LIMIT_MS = 5_000;

/** Gathers the facts, freezes the request and decides, for running and for explaining. Records nothing. */
export async function assessRequest(input: AssessmentInput): Promise<Assessment> {
  const gathered = input.facts ? await gatherFacts(input, input.facts) : { facts: plainFacts(input.tool), failure: undefined };
  const opinion = input.invocation.opinion();
  return decideRequest(input, gathered, opinion instanceof Promise ? await withLimit(input.clock, opinion) : opinion);
}

/** The facts of a request, and why they could not be gathered if they were not. */
export type GatheredFacts = { readonly facts: RequestFacts; readonly failure: string | undefined };

async function gatherFacts({ tool, invocation, cwd }: AssessmentInput, gather: Facts): Promise<GatheredFacts> {
  try {
    const facts = await gather({ tool: tool.name, kind: tool.kind, input: invocation.input, cwd, locations: invocation.locations() });
    return areFacts(facts) ? { facts, failure: undefined } : { facts: plainFacts(tool), failure: "they make no sense" };
  } catch (error) {
    return { facts: plainFacts(tool), failure: messageOf(error) };
  }
}

function plainFacts(tool: Tool): RequestFacts {
  return { units: [{ subject: tool.name }], binds: UNBOUND };
}

const UNBOUND: RequestFacts["binds"] = Object.freeze({});

/** A user's port may return anything, and invalid facts must not count as harmless. */
function areFacts(found: unknown): boolean {
  if (!isObject(found)) return false;
  const { units, binds } = found;
  return (
    Array.isArray(units) &&
    units.length > 0 &&
    units.every((unit) => isObject(unit) && typeof unit["subject"] === "string") &&
    isObject(binds)
  );
}

function withLimit(clock: Clock, opinion: Promise<ToolOpinion>): Promise<ToolOpinion> {
  const late: ToolOpinion = { verdict: "ask", declared: true, note: "tool permission failed: it did not answer within 5 s" };
  return withTimeLimit(clock, { promise: opinion, ms: PERMISSION_LIMIT_MS, late: () => late });
}

/** Freezes the request and decides, once its facts and the tool's opinion are known. Pure but for the digest. */
export function decideRequest(input: AssessmentInput, { facts, failure }: GatheredFacts, opinion: ToolOpinion): Assessment {
  const { tool, invocation, cwd, digest, hook } = input;
  const policy = input.policy();
  const plain: Request = {
    tool: tool.name,
    toolDigest: toolDigest(tool, digest),
    kind: tool.kind,
    input: invocation.input,
    cwd,
    binds: facts.binds,
    units: facts.units,
    ...(facts.containment && { containment: facts.containment }),
  };
  const proven = facts.safe === true || invocation.safe();
  const safe = proven || CONCURRENCY_SAFE_KINDS.includes(tool.kind);
  const unknown = input.unknown ?? NONE;
  const request = unknown.size > 0 ? fingerprinted(plain, digest) : plain;
  const safeguards = ownGuards(policy, failure, !safe && unknown.has(request.fingerprint ?? ""));
  const hint = makeHint({ tool, facts, opinion, proven, policy, hook });
  const circumstances: Circumstances = { mode: policy.mode, checkers: policy.checkers, safeguards, hint };
  const decision = decide(request, circumstances);
  const wanted = input.fingerprint || decision.verdict === "ask" || (decision.verdict === "allow" && !safe);
  return { request: wanted ? fingerprinted(request, digest) : request, decision, facts, safe, policy, circumstances };
}

const NONE: ReadonlySet<string> = new Set();

/** The request with its fingerprint, computed when first needed: a deny needs none, unless it is stored. */
export function fingerprinted<R extends Request>(request: R, digest: Digest): R & { readonly fingerprint: string } {
  const { fingerprint } = request;
  return { ...request, fingerprint: fingerprint ?? digest.sha256(fingerprintText(request)) };
}

/** The policy's safeguards, and two of the runtime that ask a person: after an unknown outcome, and if facts could not be gathered. */
function ownGuards(policy: Policy, failure: string | undefined, unknown: boolean): readonly Safeguard[] {
  if (failure === undefined && !unknown) return policy.safeguards;
  const own: Safeguard[] = [];
  if (unknown) own.push({ id: "recovery", check: () => ({ verdict: "ask", note: "the same call ended with an unknown outcome" }) });
  if (failure !== undefined) own.push({ id: "analysis-failed", check: () => ({ verdict: "ask", note: failure }) });
  return [...policy.safeguards, ...own];
}

type HintSources = {
  readonly tool: Tool;
  readonly facts: RequestFacts;
  readonly opinion: ToolOpinion;
  readonly proven: boolean;
  readonly policy: Policy;
  readonly hook: HookView | undefined;
};

/** Runtime bodies that mode `plan` allows, because what they start inherits the mode. */
const OWN_HANDLERS: ReadonlySet<string | undefined> = new Set([
  "ask",
  "enter_plan_mode",
  "agent",
  "task_list",
  "task_output",
  "task_stop",
  "task_send",
]);

function makeHint({ tool, facts, opinion, proven, policy, hook }: HintSources): Hint {
  const hint: { -readonly [K in keyof Hint]: Hint[K] } = {
    readOnly: policy.honourReadOnlyHint && (tool.readOnlyHint || proven) && facts.exposes !== true,
    readOnlyParts: policy.honourReadOnlyHint,
    safe: proven,
    insideWorkspace: facts.insideWorkspace === true,
    planFile: facts.planFile === true,
    ownTool: OWN_HANDLERS.has(tool.definition.runtimeHandler),
    ...(policy.allowConfined && { allowConfined: true }),
    ...hookHint(hook),
  };
  if (opinion.declared) hint.tool = opinion.verdict;
  if (opinion.note !== undefined) hint.toolNote = opinion.note;
  return hint;
}

export function hookHint(hook: HookView | undefined): Pick<Hint, "hook"> {
  if (hook?.verdict === undefined) return {};
  const { verdict, name, reason } = hook;
  return { hook: { verdict, name, ...(reason !== undefined && { reason }) } };
}

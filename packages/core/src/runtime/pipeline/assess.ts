import { decide } from "../../model/decide.ts";
import type { Circumstances, Decision, Guard, Hint } from "../../model/decision.ts";
import { isObject } from "../../model/json/json.ts";
import { CONCURRENCY_SAFE_KINDS } from "../../model/kind.ts";
import { fingerprintText, type Request } from "../../model/request.ts";
import { messageOf } from "../../model/result/thrown.ts";
import type { Clock, Digest, Facts, Policy, RequestFacts } from "../../ports.ts";
import type { Invocation, Maybe, Tool, ToolOpinion } from "../../tool-definition.ts";
import { toolDigest } from "../../tool-digest.ts";
import { within } from "../within.ts";
import type { HookView } from "./rewrite.ts";

/** What is judged of an invocation. */
export type Judgeable = Pick<Invocation, "input" | "locations" | "opinion" | "safe">;

/** A request and all that may speak about it. */
export type Assessing = {
  readonly tool: Tool;
  readonly invocation: Judgeable;
  readonly cwd: string;
  readonly facts: Facts | undefined;
  /** Taken when everything else is known, so that the newest counts. */
  readonly policy: () => Policy;
  readonly hook?: HookView | undefined;
  readonly digest: Digest;
  readonly clock: Clock;
  /** Fingerprints of requests that ended unknown and that nobody has spoken about since. */
  readonly unknown?: ReadonlySet<string>;
  /** The fingerprint is wanted whatever the verdict. */
  readonly fingerprint?: boolean;
};

/** A judged request: frozen, with the decision on it and under what it was made. */
export type Assessed = {
  readonly request: Request;
  readonly decision: Decision;
  readonly facts: RequestFacts;
  /** Runs beside others. */
  readonly safe: boolean;
  readonly policy: Policy;
  /** All that was heard, so that a part of the request can be explained by itself. */
  readonly circumstances: Circumstances;
};

const PERMISSION_LIMIT_MS = 5_000;

/** Gathers facts, freezes the request and lets everyone speak: the same for a call that is to run and for one that is only explained. Nothing is recorded. */
export function assessRequest(what: Assessing): Maybe<Assessed> {
  const gathered = gatherFacts(what);
  const opinion = toolOpinion(what);
  if (!(gathered instanceof Promise) && !(opinion instanceof Promise)) return conclude(what, gathered, opinion);
  return Promise.all([gathered, opinion]).then(([facts, said]) => conclude(what, facts, said));
}

type Gathered = {
  readonly facts: RequestFacts;
  readonly failure: string | undefined;
  /** How the last call was decided on these very facts, where nobody spoke about it. */
  last: Unasked | undefined;
};

function gatherFacts({ tool, invocation, cwd, facts: gather }: Assessing): Maybe<Gathered> {
  const plain = plainFacts(tool);
  if (!gather) return plain;
  const failed = (error: unknown): Gathered => ({ facts: plain.facts, failure: messageOf(error), last: undefined });
  try {
    const facts = gather({ tool: tool.name, kind: tool.kind, input: invocation.input, cwd, locations: invocation.locations() });
    const checked = (found: RequestFacts): Gathered =>
      areFacts(found) ? { facts: found, failure: undefined, last: undefined } : failed("they make no sense");
    return facts instanceof Promise ? facts.then(checked, failed) : checked(facts);
  } catch (error) {
    return failed(error);
  }
}

const PLAIN = new WeakMap<Tool, Gathered>();

/** Of a call of which nothing else is known: they are the same for every call of a tool. */
function plainFacts(tool: Tool): Gathered {
  const known = PLAIN.get(tool);
  if (known) return known;
  const gathered: Gathered = { facts: { units: [{ subject: tool.name }], binds: Object.freeze({}) }, failure: undefined, last: undefined };
  PLAIN.set(tool, gathered);
  return gathered;
}

/** A port of the user's may answer anything; nonsense must not pass for "nothing to see". */
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

function toolOpinion({ clock, invocation }: Assessing): Maybe<ToolOpinion> {
  const opinion = invocation.opinion();
  if (!(opinion instanceof Promise)) return opinion;
  const late: ToolOpinion = { verdict: "ask", declared: true, note: "tool permission failed: it did not answer within 5 s" };
  return within(clock, { promise: opinion, ms: PERMISSION_LIMIT_MS, late: () => late });
}

function conclude(what: Assessing, gathered: Gathered, opinion: ToolOpinion): Assessed {
  const { facts, failure } = gathered;
  const { tool, invocation, cwd, digest, hook } = what;
  const policy = what.policy();
  const plain: Request = {
    tool: tool.name,
    toolDigest: toolDigest(tool, digest),
    kind: tool.kind,
    input: invocation.input,
    cwd,
    binds: facts.binds,
    units: facts.units,
  };
  const proven = facts.safe === true || invocation.safe();
  const safe = proven || CONCURRENCY_SAFE_KINDS.includes(tool.kind);
  const unknown = what.unknown ?? NONE;
  const request = unknown.size > 0 ? fingerprinted(plain, digest) : plain;
  const guards = ownGuards({ policy, failure, unknown: !safe && unknown.has(request.fingerprint ?? "") });
  const speaks = what.facts !== undefined || proven || opinion.declared || hook !== undefined || guards.length + policy.checkers.length > 0;
  const hinting: Hinting = { tool, facts, opinion, proven, policy, hook };
  const { circumstances, decision } = speaks ? rule(request, hinting, guards) : ruleUnasked(gathered, request, hinting);
  const wanted = what.fingerprint || decision.verdict === "ask" || (decision.verdict === "allow" && !safe);
  return { request: wanted ? fingerprinted(request, digest) : request, decision, facts, safe, policy, circumstances };
}

const NONE: ReadonlySet<string> = new Set();

/** What is decided, and on what it rests. */
type Ruled = { readonly circumstances: Circumstances; readonly decision: Decision };

function rule(request: Request, hinting: Hinting, guards: readonly Guard[]): Ruled {
  const { mode, checkers } = hinting.policy;
  const circumstances = { mode, checkers, guards, hint: makeHint(hinting) };
  return { circumstances, decision: decide(request, circumstances) };
}

/** What nobody speaks about but the tool's own definition and the mode is decided as the last call of the tool was, for as long as these are the same. */
function ruleUnasked(gathered: Gathered, request: Request, hinting: Hinting): Ruled {
  const { last } = gathered;
  if (last && isSame(last, hinting)) return last;
  const { tool, policy } = hinting;
  const ruled = rule(request, hinting, policy.guards);
  Object.freeze(ruled.decision);
  gathered.last = {
    ...ruled,
    mode: policy.mode,
    honoured: policy.honourReadOnlyHint,
    kind: tool.kind,
    hinted: tool.readOnlyHint,
    handler: tool.definition.runtimeHandler,
  };
  return ruled;
}

/** All that a decision rests on about which nobody speaks. */
type Unasked = Ruled & {
  readonly mode: string;
  readonly honoured: boolean;
  readonly kind: Tool["kind"];
  readonly hinted: boolean;
  readonly handler: string | undefined;
};

function isSame({ mode, honoured, kind, hinted, handler }: Unasked, { tool, policy }: Hinting): boolean {
  if (mode !== policy.mode || honoured !== policy.honourReadOnlyHint) return false;
  return kind === tool.kind && hinted === tool.readOnlyHint && handler === tool.definition.runtimeHandler;
}

/** The request with its fingerprint, computed when first needed: a deny needs none, unless it is stored. */
export function fingerprinted<R extends Request>(request: R, digest: Digest): R & { readonly fingerprint: string } {
  const { fingerprint } = request;
  return { ...request, fingerprint: fingerprint ?? digest.sha256(fingerprintText(request)) };
}

type OwnGuards = { readonly policy: Policy; readonly failure: string | undefined; readonly unknown: boolean };

/** The policy's guards and the runtime's own two: an outcome nobody knows, and facts nobody could gather. Both insist on a person. */
function ownGuards({ policy, failure, unknown }: OwnGuards): readonly Guard[] {
  if (failure === undefined && !unknown) return policy.guards;
  const own: Guard[] = [];
  if (unknown) own.push({ id: "recovery", check: () => ({ verdict: "ask", note: "the same call ended with an unknown outcome" }) });
  if (failure !== undefined) own.push({ id: "analysis-failed", check: () => ({ verdict: "ask", note: failure }) });
  return [...policy.guards, ...own];
}

type Hinting = {
  readonly tool: Tool;
  readonly facts: RequestFacts;
  readonly opinion: ToolOpinion;
  readonly proven: boolean;
  readonly policy: Policy;
  readonly hook: HookView | undefined;
};

/** The runtime's own bodies that mode `plan` lets pass: what they start inherits the mode. `resolve` is judged by what it applies. */
const OWN_HANDLERS: ReadonlySet<string> = new Set([
  "ask",
  "enter_plan_mode",
  "agent",
  "task_list",
  "task_output",
  "task_stop",
  "task_send",
]);

function isOwn(handler: string | undefined): boolean {
  return handler !== undefined && OWN_HANDLERS.has(handler);
}

function makeHint({ tool, facts, opinion, proven, policy, hook }: Hinting): Hint {
  const hint: { -readonly [K in keyof Hint]: Hint[K] } = {
    readOnly: policy.honourReadOnlyHint && (tool.readOnlyHint || proven),
    readOnlyParts: policy.honourReadOnlyHint,
    safe: proven,
    insideWorkspace: facts.insideWorkspace === true,
    planFile: facts.planFile === true,
    ownTool: isOwn(tool.definition.runtimeHandler),
  };
  if (opinion.declared) hint.tool = opinion.verdict;
  if (opinion.note !== undefined) hint.toolNote = opinion.note;
  if (hook?.verdict !== undefined)
    hint.hook = { verdict: hook.verdict, name: hook.name, ...(hook.reason !== undefined && { reason: hook.reason }) };
  return hint;
}

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { TestContext } from "node:test";
import {
  type Answer,
  type Batch,
  type BatchReport,
  type CallReport,
  type CheckerRules,
  contentText,
  createDispatcher,
  createRegistry,
  type DecisionNotice,
  type Digest,
  type DispatchEvent,
  type Dispatcher,
  type DispatcherDeps,
  defineTool,
  type EventBodies,
  type EventType,
  emptySession,
  fold,
  type Holder,
  type HookEvent,
  type HookNotice,
  type HookOpinion,
  type Hooks,
  type Json,
  type JsonObject,
  type Kind,
  type Ledger,
  type LedgerEvent,
  makeChecker,
  memoryLedger,
  type NamedChecker,
  openSession,
  type Policy,
  type PolicySource,
  type ProposedCall,
  parseEvent,
  type Registry,
  type RunContext,
  type Safeguard,
  type Session,
  type SessionState,
  type StandardSchema,
  type Tool,
  type ToolDefinition,
  type ToolResult,
} from "@assent/core";
import {
  countingIds,
  createdDraft,
  type ManualClock,
  manualClock,
  type ScriptedApprover,
  scriptedApprover,
  TESTER,
} from "@assent/core/testing";
import { fromSnapshot, toSnapshot } from "../../src/model/snapshot.ts";

/** Lets everything that is ready run; passes no time. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Long enough for everything that will happen without time passing to have happened. */
export async function rest(): Promise<void> {
  for (let turns = 0; turns < 8; turns += 1) await turn();
}

/** Waits for a condition, counted in turns of the event loop: enough of them for another thread to hash a content meanwhile. */
export async function until(condition: () => boolean, what = "the condition"): Promise<void> {
  for (let turns = 0; turns < 100_000; turns += 1) {
    if (condition()) return;
    await turn();
  }
  assert.fail(`${what} did not come about`);
}

/** SHA-256, as a host has it. */
export const sha256: Digest = { sha256: (text) => createHash("sha256").update(text).digest("hex") };

/** A schema that wants a text named `text`; what else is there passes. */
export const textSchema: StandardSchema<{ text: string }, Record<string, unknown>> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) => {
      const input = value as Record<string, unknown>;
      return typeof input["text"] === "string" ? { value: input } : { issues: [{ message: "must be a text", path: ["text"] }] };
    },
  },
};

/** A tool of a kind whose input is `{ text }`. */
export function textTool(name: string, kind: Kind, over: Partial<ToolDefinition<typeof textSchema>> = {}): Tool {
  const { run = () => `${name} done`, ...rest } = over;
  const body = rest.runtimeHandler === undefined ? { run } : {};
  const inputSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  return defineTool({ name, kind, description: `A tool for tests: ${name}.`, input: textSchema, inputSchema, ...body, ...rest });
}

/** What bodies did to the world, in order. */
export type World = {
  readonly lines: string[];
  readonly effects: { readonly session: string; readonly call: string; readonly text: string }[];
};

/** Bodies that start when they are called and end when the test says so. */
export type Gates = {
  readonly started: string[];
  readonly contexts: Map<string, RunContext>;
  readonly open: (text: string, result?: ToolResult | string) => void;
  readonly fail: (text: string, error: unknown) => void;
  /** Resolves when the body of this text has started. */
  readonly reached: (text: string) => Promise<void>;
  readonly run: (input: Record<string, unknown>, ctx: RunContext) => Promise<ToolResult | string>;
};

export function makeGates(world: World): Gates {
  const waiting = new Map<string, PromiseWithResolvers<ToolResult | string>>();
  const gateOf = (text: string): PromiseWithResolvers<ToolResult | string> => {
    const gate = waiting.get(text) ?? Promise.withResolvers<ToolResult | string>();
    waiting.set(text, gate);
    return gate;
  };
  const started: string[] = [];
  const contexts = new Map<string, RunContext>();
  return {
    started,
    contexts,
    open: (text, result = `done ${text}`) => gateOf(text).resolve(result),
    fail: (text, error) => gateOf(text).reject(error),
    reached: (text) => until(() => started.includes(text), `the start of ${text}`),
    run: (input, ctx) => {
      const text = String(input["text"]);
      started.push(text);
      contexts.set(text, ctx);
      world.effects.push({ session: ctx.sessionId, call: ctx.callId, text });
      return gateOf(text).promise;
    },
  };
}

/** The tools every bench has: `read`, `edit` (appends to the world), and `slow_read` and `slow_edit`, whose bodies end when told. */
export type Tools = { readonly registry: Registry; readonly world: World; readonly gates: Gates };

export function makeTools(more: readonly Tool[] = []): Tools {
  const world: World = { lines: [], effects: [] };
  const gates = makeGates(world);
  const registry = createRegistry();
  registry.add(textTool("read", "read", { run: () => `world: ${world.lines.join(",")}` }));
  registry.add(
    textTool("edit", "edit", {
      run: ({ text }, { callId, sessionId }) => {
        world.lines.push(String(text));
        world.effects.push({ session: sessionId, call: callId, text: String(text) });
        return `wrote ${text}`;
      },
    }),
  );
  registry.add(textTool("slow_read", "read", { run: gates.run }));
  registry.add(textTool("slow_edit", "edit", { run: gates.run }));
  for (const tool of more) registry.add(tool);
  return { registry, world, gates };
}

/** Rules by scope, as a policy is written in tests. */
export type Rules = Partial<Record<"session" | "project" | "user" | "team", Pick<CheckerRules, "deny" | "ask" | "allow">>>;

const LABELS = {
  session: "session permissions",
  project: "project permissions",
  user: "user permissions",
  team: "permissions configuration",
} as const;

export function checkersOf(rules: Rules): readonly NamedChecker[] {
  return (["session", "project", "user", "team"] as const).flatMap((scope) => {
    const lists = rules[scope];
    return lists ? [makeChecker({ label: LABELS[scope], scope, ...lists }).checker] : [];
  });
}

/** What a test says about a policy; the rest is the default mode without rules. */
export type PolicyWords = {
  readonly mode?: string;
  readonly rules?: Rules;
  readonly safeguards?: readonly Safeguard[];
  readonly hints?: boolean;
  readonly proposals?: Policy["proposals"];
  readonly effectPreview?: Policy["effectPreview"];
};

export type MutablePolicy = PolicySource & { readonly set: (words: PolicyWords) => void; readonly subscribers: () => number };

/** A policy that changes when told, and says so. */
export function makePolicy(first: PolicyWords): MutablePolicy {
  const changed = new Set<() => void>();
  let revision = 1;
  const build = ({ mode = "default", rules = {}, safeguards = [], hints = true, proposals, effectPreview }: PolicyWords): Policy => ({
    revision: `policy-${revision}`,
    mode,
    checkers: checkersOf(rules),
    safeguards,
    honourReadOnlyHint: hints,
    ...(proposals && { proposals }),
    ...(effectPreview && { effectPreview }),
  });
  let policy = build(first);
  return {
    current: () => policy,
    subscribe: (tell) => {
      changed.add(tell);
      return () => void changed.delete(tell);
    },
    set: (words) => {
      revision += 1;
      policy = build(words);
      for (const tell of changed) tell();
    },
    subscribers: () => changed.size,
  };
}

/** What hooks are scripted to say, by event; what is not there says nothing. */
export type HookScript = Partial<Record<HookEvent, (input: JsonObject, signal: AbortSignal) => HookWords | Promise<HookWords>>>;
export type HookWords = Partial<HookOpinion> | undefined;

export type ScriptedHooks = Hooks & {
  readonly consulted: { readonly event: HookEvent; readonly input: JsonObject }[];
  readonly told: { readonly event: HookNotice; readonly input: JsonObject }[];
};

const CALL_NOTICES: readonly string[] = ["permission_denied", "on_tool_approval_decision", "on_user_input"] satisfies HookNotice[];

export function scriptedHooks(script: HookScript): ScriptedHooks {
  const consulted: { readonly event: HookEvent; readonly input: JsonObject }[] = [];
  const told: { readonly event: HookNotice; readonly input: JsonObject }[] = [];
  return {
    consulted,
    told,
    consult: async (event, input, signal) => {
      const hook = script[event];
      if (!hook) return undefined;
      consulted.push({ event, input });
      const said = await hook(input, signal);
      return said && { verdict: "none", name: "hook-1", ...said };
    },
    applies: (event) => event in script || CALL_NOTICES.includes(event),
    tell: (event, input) => void told.push({ event, input }),
  };
}

export const HOLDER: Holder = Object.freeze({ pid: 1, host: "host", processStart: "start", door: "test" });

type Deps = Omit<DispatcherDeps, "session" | "clock" | "ids" | "digest" | "policy">;

export type BenchOptions = {
  readonly policy?: PolicyWords;
  readonly tools?: readonly Tool[];
  /** A person who follows a script; `"nobody"` leaves the approver out. */
  readonly person?: ScriptedApprover | "nobody";
  readonly deps?: Partial<Deps> & { readonly policy?: PolicySource };
  readonly created?: Partial<EventBodies["session.created"]>;
  /** Wraps the memory ledger, to make it fail or to watch it. */
  readonly wrap?: (ledger: Ledger) => Ledger;
  /** Use the ledger, clock, ids and tools of another bench: another process on the same store. */
  readonly beside?: Bench;
  /** A session of that bench, to go on with. */
  readonly reopen?: { readonly id: string; readonly takeOver?: boolean };
};

export type Bench = Tools & {
  readonly clock: ManualClock;
  readonly ledger: Ledger;
  readonly ids: ReturnType<typeof countingIds>;
  readonly policy: MutablePolicy;
  readonly person: ScriptedApprover;
  readonly session: Session;
  readonly dispatcher: Dispatcher;
  readonly events: DispatchEvent[];
  readonly notices: DecisionNotice[];
  readonly warnings: string[];
  readonly process: (calls: readonly ProposedCall[], over?: Partial<Batch>) => Promise<BatchReport>;
  readonly resume: (over?: Partial<Batch>) => Promise<BatchReport>;
  /** `type callId` of what was emitted, in order. */
  readonly log: () => readonly string[];
  readonly stored: <T extends EventType>(type: T, call?: string) => Promise<readonly LedgerEvent<T>[]>;
  /** Checks the laws of the ledger now; every test's end does. */
  readonly check: () => Promise<void>;
};

/** The ports of a bench: its own, or those of another bench, like a second process. */
function ground({ beside, tools, wrap, policy }: BenchOptions): Ground {
  const clock = beside?.clock ?? manualClock();
  const ids = beside?.ids ?? countingIds();
  const plain = beside?.ledger ?? memoryLedger({ clock, ids });
  return {
    clock,
    ids,
    plain,
    ledger: wrap ? wrap(plain) : plain,
    tools: beside && !tools ? beside : makeTools(tools),
    policy: beside && !policy ? beside.policy : makePolicy(policy ?? {}),
  };
}

type Ground = Pick<Bench, "clock" | "ids" | "policy"> & { readonly plain: Ledger; readonly ledger: Ledger; readonly tools: Tools };

function openOn({ ledger, clock, ids }: Ground, { reopen, created }: BenchOptions): Promise<Session> {
  const create = { ...createdDraft().body, ...created };
  return openSession({ ledger, clock, ids }, reopen ? { holder: HOLDER, ...reopen } : { holder: HOLDER, create });
}

/** A session with a dispatcher and everything that is needed to look at them from outside. Its end checks the laws of the ledger. */
export async function bench(t: TestContext, options: BenchOptions = {}): Promise<Bench> {
  const base = ground(options);
  const { clock, ids, plain, policy } = base;
  const { registry, world, gates } = base.tools;
  const { policy: source, ...deps } = options.deps ?? {};
  const scripted = typeof options.person === "object" ? options.person : undefined;
  const person = scripted ?? scriptedApprover(() => "wait");
  const session = await openOn(base, options);
  const events: DispatchEvent[] = [];
  const notices: DecisionNotice[] = [];
  const warnings: string[] = [];
  const dispatcher = createDispatcher({
    session,
    clock,
    ids,
    digest: sha256,
    policy: source ?? policy,
    ...(options.person !== "nobody" && { approver: person }),
    by: TESTER,
    decided: (notice) => void notices.push(notice),
    warn: (message) => void warnings.push(message),
    ...deps,
  });
  const { signal } = new AbortController();
  const emit = (event: DispatchEvent): void => void events.push(event);
  const made: Bench = {
    registry,
    world,
    gates,
    clock,
    ledger: plain,
    ids,
    policy,
    person,
    session,
    dispatcher,
    events,
    notices,
    warnings,
    process: (calls, over = {}) => dispatcher.process({ calls, tools: registry, signal, ...over }, emit),
    resume: (over = {}) => dispatcher.resume({ tools: registry, signal, ...over }, emit),
    log: () => events.map(({ type, callId }) => `${type} ${callId}`),
    stored: (type, call) => stored(plain, session.id, { type, call }),
    check: () => checkLaws(made),
  };
  const holders = newest.get(plain) ?? new Map<string, Bench>();
  newest.set(plain, holders.set(session.id, made));
  t.after(() => (holders.get(session.id) === made ? checkLaws(made) : undefined));
  return made;
}

/** The last holder checks a reopened session. */
const newest = new WeakMap<Ledger, Map<string, Bench>>();

async function stored<T extends EventType>(
  ledger: Ledger,
  session: string,
  { type, call }: { readonly type: T; readonly call: string | undefined },
): Promise<readonly LedgerEvent<T>[]> {
  const all = await history(ledger, session);
  return all.filter((event) => event.type === type && (call === undefined || callOf(event) === call)) as LedgerEvent<T>[];
}

/** Everything the ledger has on a session, of both chains, in the order of the store. */
export async function history(ledger: Ledger, session: string): Promise<readonly LedgerEvent[]> {
  const events: LedgerEvent[] = [];
  for await (const event of ledger.read({ pos: 0 }, { session, naming: session }))
    events.push(parseEvent(event) ?? assert.fail("unknown event"));
  return events;
}

function callOf({ body }: LedgerEvent): string | undefined {
  return "call" in body && typeof body.call === "string" ? body.call : undefined;
}

/** What is written and read again, without positions of the shared chain, which only say how far one has looked. */
export function plainState(state: SessionState): Json {
  const { shared: _looked, ...rest } = toSnapshot(state) as JsonObject;
  return JSON.parse(JSON.stringify(rest));
}

/** The laws that hold after every scenario, read from the ledger and the world alone. */
async function checkLaws({ ledger, session, world }: Bench): Promise<void> {
  const events = await history(ledger, session.id);
  const state = emptySession();
  for (const event of events) fold(state, event);
  assert.deepEqual(plainState(state), plainState(session.state), "the fold of all events is the live state");
  checkSnapshot(events, state);
  for (const id of new Set(events.map(callOf))) if (id !== undefined) checkCall(events.filter((event) => callOf(event) === id));
  const claims = events.filter(({ type }) => type === "call.claimed");
  const effects = world.effects.filter((effect) => effect.session === session.id);
  for (const call of new Set(effects.map((effect) => effect.call))) {
    const ran = effects.filter((effect) => effect.call === call).length;
    assert.ok(ran <= claims.filter((event) => callOf(event) === call).length, `${call} ran more often than it was claimed`);
  }
}

/** Folding a prefix, keeping it as JSON and folding the rest is folding all. */
function checkSnapshot(events: readonly LedgerEvent[], whole: SessionState): void {
  const middle = Math.floor(events.length / 2);
  const prefix = emptySession();
  for (const event of events.slice(0, middle)) fold(prefix, event);
  const kept = fromSnapshot(JSON.parse(JSON.stringify(toSnapshot(prefix)))) ?? assert.fail("a snapshot of ours was refused");
  for (const event of events.slice(middle)) fold(kept, event);
  assert.deepEqual(plainState(kept), plainState(whole), "a snapshot changes nothing");
}

function checkCall(events: readonly LedgerEvent[]): void {
  const types = events.map(({ type }) => type);
  const ended = types.indexOf("call.ended");
  const id = callOf(events[0]!);
  assert.equal(types.filter((type) => type === "call.proposed").length, 1, `${id} is proposed once`);
  if (ended !== -1) assert.equal(ended, types.length - 1, `nothing follows the end of ${id}`);
  for (const [at, event] of events.entries()) if (event.type === "call.claimed") checkClaim(events.slice(0, at), event);
}

/** I2 and I5: a judgement of the same fingerprint that allows the call, or an answered ask, precedes every intent. */
function checkClaim(before: readonly LedgerEvent[], claim: LedgerEvent<"call.claimed">): void {
  const judged = before.findLast((event) => event.type === "call.judged") as LedgerEvent<"call.judged"> | undefined;
  assert.equal(judged?.body.fingerprint, claim.body.fingerprint, "what was judged last is what is claimed");
  assert.notEqual(judged?.body.verdict, "deny", "a deny is never claimed");
  if (claim.body.answer === null || claim.body.attempt > 1) return;
  const yes = before.find(({ pos }) => pos === claim.body.answer?.pos);
  const covers = yes?.type === "approval.answered" ? (yes.body.edited?.fingerprint ?? yes.body.fingerprint) : undefined;
  const lifted = yes?.type === "call.answered" ? yes.body.fingerprint : undefined;
  assert.equal(covers ?? lifted, claim.body.fingerprint, "what was answered is what is claimed");
}

let calls = 0;
/** A call as a model would send it. */
export function call(name: string, text: string, id?: string): ProposedCall {
  calls += 1;
  return { id: id ?? `call-${calls}`, name, arguments: JSON.stringify({ text }) };
}

/** A yes or no of the tester's. */
export function says(approval: string, over: Partial<Answer> = {}): Answer {
  return { approval, outcome: "approve", by: TESTER, ...over };
}

/** The outcome and type of every report, in call order. */
export function outcomes({ results }: BatchReport): readonly string[] {
  return results.map(({ outcome, type }) => (type === null || outcome === "waiting" ? outcome : `${outcome} ${type}`));
}

/** The text a model is given for one call. */
export function textOf(report: CallReport | undefined): string {
  assert.ok(report && report.outcome !== "waiting", "the call has no result");
  return contentText(report.result.content);
}

/** The only result of a batch. */
export function only({ results }: BatchReport): Extract<CallReport, { readonly result: ToolResult }> {
  const [first] = results;
  assert.equal(results.length, 1);
  assert.ok(first && first.outcome !== "waiting", "the call has no result");
  return first;
}

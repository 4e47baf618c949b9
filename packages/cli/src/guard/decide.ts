import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  type Approver,
  type BatchReport,
  createDispatcher,
  type Dispatcher,
  type DispatcherDeps,
  isAcceptedPlace,
  openSession,
  type Session,
  type SessionRow,
  ToolError,
} from "@assent/core";
import {
  callKey,
  FOR_PERSON,
  type ForeignCall,
  type GuardVerdict,
  idsWithPrefix,
  type OutsideCall,
  type OutsideRun,
  switchedOff,
  translateCall,
  WRAPPER_NAME,
} from "@assent/guard";
import { currentUser } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { createHooks } from "../compose/hook-runner.ts";
import { commandHolder } from "../compose/keep-alive.ts";
import { titleFrom } from "../compose/redaction.ts";
import { untilAborted } from "../io/cancel-on-signal.ts";
import { ignoreHeld } from "../io/failure.ts";
import { warn } from "../io/output.ts";
import { personBy } from "../io/who.ts";
import { storeFlag } from "../store/location.ts";
import { VERSION } from "../version.ts";
import { findAgentProcess } from "./agent-process.ts";
import { agentTitle, type OutsidePlace, type OutsidePolicy, openOutsidePolicy } from "./outside-policy.ts";
import { PROJECT_READER, userPlaces } from "./read-text.ts";

/** What to do with a call that needs approval: wait for a person, leave it to the agent's dialog, to both, or deny it. */
export type OnOutsideAsk = "wait" | "agent" | "both" | "deny";

export type DecideOptions = {
  readonly place: OutsidePlace;
  readonly call: ForeignCall;
  readonly onAsk: OnOutsideAsk;
  /** Aborts with a `ParkRequest` at the deadline. */
  readonly signal: AbortSignal;
};

/**
 * Decides about a call that another agent wants to run:
 * 1. A call that waits for approval with the same input, from an earlier try, is continued.
 * 2. The call is judged, and a person is asked where needed, until the deadline.
 * 3. The claim is on disk before the agent may run it. Then this process exits; the agent's report ends the call.
 */
export async function decideOutsideCall(context: Context, { place, call, onAsk: wanted, signal }: DecideOptions): Promise<GuardVerdict> {
  const wrapper = join(place.directory, "hooks", WRAPPER_NAME);
  const project = { directory: call.cwd, call, ...userPlaces(context.io.env), wrapper };
  const [off] = switchedOff(place.agent, project, PROJECT_READER);
  if (off !== undefined)
    return { verdict: "deny", reason: `Denied: ${off}. A person must remove that before anything runs here. ${ALL_REASONS}` };
  const translated = translateCall(place.agent, call.tool, call.input);
  const handedOver = Promise.withResolvers<"handed over">();
  const run = handOverUnedited(place, translated, () => void handedOver.resolve("handed over"));
  const policy = await openOutsidePolicy(context, place, { call: translated, run });
  const { answersFrom } = policy.source.settings();
  const onAsk = isAcceptedPlace(answersFrom, dialogPlace(place.agent)) ? wanted : DIALOG_REFUSED[wanted];
  const opened = await openCallSession(context, place, { call, translated, policy });
  const dispatcher = await createOutsideDispatcher(context, { place, policy, session: opened.session, onAsk });
  const batch = { tools: policy.tools, signal };
  const work = opened.resumed
    ? dispatcher.resume(batch)
    : dispatcher.process({
        ...batch,
        calls: [{ name: translated.tool, arguments: translated.input, ...(call.callId && { id: call.callId }) }],
      });
  const done = await Promise.race([work, handedOver.promise]);
  if (done === "handed over") {
    if (wasAsked(opened.session)) return { verdict: HANDED_OVER[onAsk] };
    return { verdict: FOR_PERSON.has(translated.tool) ? "none" : "allow" };
  }
  const failure = dispatcher.failure();
  if (failure !== undefined) throw failure;
  return await endUnclaimed(context, opened.session, done);
}

const ALL_REASONS = "To list every reason: assent hook status";

/** The verdict for a call that needed approval. With `none`, Claude Code shows its dialog and runs the other hook. */
const HANDED_OVER = { wait: "allow", deny: "allow", agent: "dialog", both: "none" } as const;

/** Replaces a choice that uses the agent's dialog, if the setting `answersFrom` does not accept answers from there. */
const DIALOG_REFUSED = { wait: "wait", deny: "deny", agent: "wait", both: "wait" } as const;

const EDITED = "A person or a hook of Assent edited this call. This agent cannot run an edited call: propose the edited call yourself.";

/** Leaves the call to its agent, which cannot run an edited one. */
export function handOverUnedited({ agent }: OutsidePlace, { input: written }: OutsideCall, handOver: () => string | undefined): OutsideRun {
  return {
    agent: agentTitle(agent),
    handOver: (input) => {
      if (!isDeepStrictEqual(input, written)) throw new ToolError(EDITED);
      return handOver();
    },
    report: () => undefined,
  };
}

type CallToOpen = { readonly call: ForeignCall; readonly translated: OutsideCall; readonly policy: OutsidePolicy };
type OpenedCall = { readonly session: Session; readonly resumed: boolean };

async function openCallSession(context: Context, place: OutsidePlace, { call, translated, policy }: CallToOpen): Promise<OpenedCall> {
  const { ledger, ports, agent } = place;
  const group = { client: agent, title: agentTitle(agent), id: call.session };
  const key = callKey(ports.digest, group, translated);
  const holder = commandHolder(context, "hook");
  for (const row of await ledger.pending("sessions", { prefix: key.call, all: true })) {
    if (row.cwd !== call.cwd || !(await isWaiting(place, row))) continue;
    const { id } = row;
    const session = await openSession({ ledger, ...ports }, { holder, id, runElsewhere: true }).catch(ignoreHeld);
    if (session) return { session, resumed: true };
  }
  return { session: await createCallSession(context, place, { call, translated, policy, prefix: key.call }), resumed: false };
}

/** Also if the hook process that waited was killed. A claimed call is the agent's. */
async function isWaiting({ ledger }: OutsidePlace, { id, state }: SessionRow): Promise<boolean> {
  if (state !== "interrupted") return state === "parked";
  const approvals = await ledger.pending("approvals", { session: id, all: true });
  return approvals.some((approval) => approval.state === "open" || (approval.state === "approved" && !approval.consumed));
}

/** A session of its own for one call, whose id starts with `prefix`. */
export async function createCallSession(
  context: Context,
  { ledger, ports, agent }: OutsidePlace,
  { call, translated, policy, prefix }: CallToOpen & { readonly prefix: string },
): Promise<Session> {
  const { mode, revision } = policy.source.current();
  const agentProcess = findAgentProcess();
  return await openSession(
    { ledger, ...ports, ids: idsWithPrefix(ports.ids, prefix) },
    {
      holder: commandHolder(context, "hook"),
      create: {
        cwd: call.cwd,
        workspace: policy.workspace,
        door: "hook",
        mode,
        version: VERSION,
        policy: revision,
        agent: call.subagent ?? null,
        title: titleFrom(`${translated.tool} ${JSON.stringify(translated.input)}`, policy.source.settings()),
        group: { client: agent, title: agentTitle(agent), id: call.session, ...(agentProcess && { process: agentProcess }) },
      },
    },
  );
}

export type OutsideDispatcherParts = {
  readonly place: OutsidePlace;
  readonly policy: OutsidePolicy;
  readonly session: Session;
  readonly onAsk: OnOutsideAsk;
};

export async function createOutsideDispatcher(
  context: Context,
  { place, policy, session, onAsk }: OutsideDispatcherParts,
): Promise<Dispatcher> {
  const { ports, agent } = place;
  const { clock, ids, digest, files, processes } = ports;
  const { facts, rules, tools, source } = policy;
  const by = personBy({ name: agentTitle(agent), door: "hook" });
  const approver = onAsk === "deny" ? undefined : onAsk === "wait" ? waitingApprover() : dialogApprover(agent);
  const deps: DispatcherDeps = {
    ...{ session, clock, ids, digest, files, processes, tools, rules, facts, by },
    policy: source,
    above: await sessionsWithGrants(place, session),
    onAsk: onAsk === "deny" ? "deny" : "park",
    answersFrom: () => source.settings().answersFrom,
    hooks: createHooks(context, { session, ports, policy }),
    ...(approver && { approver }),
    warn: (message) => void warn(context.io, message),
  };
  return createDispatcher(deps);
}

/** A grant for "this session" holds for all calls of the agent's session. */
async function sessionsWithGrants({ ledger, ports, agent }: OutsidePlace, { state }: Session): Promise<readonly string[]> {
  const { group } = callKey(ports.digest, { client: agent, id: state.created?.group?.id ?? "" }, {});
  const grants = await ledger.pending("grants", { limit: 1_000 });
  return grants.flatMap(({ session = "" }) => (session.startsWith(group) ? [session] : []));
}

/** People answer from other processes; this one only waits for the record. */
function waitingApprover(): Approver {
  return {
    available: () => true,
    ask: async (_approval, signal) => {
      await untilAborted(signal);
      return undefined;
    },
  };
}

/** Records that the agent's own dialog decides, before the agent shows it. */
function dialogApprover(agent: OutsidePlace["agent"]): Approver {
  const { user } = currentUser();
  return {
    available: () => true,
    ask: async ({ id, revision }) => ({
      approval: id,
      revision,
      outcome: "approve",
      reason: `left to the ${dialogOf(agent)}`,
      by: { kind: "host", user, name: dialogOf(agent), door: agent, from: dialogPlace(agent), pid: process.pid },
    }),
  };
}

function dialogPlace(agent: OutsidePlace["agent"]): string {
  return `dialog:${agent}`;
}

/** Answers and closed approvals name the dialog like this. */
export function dialogOf(agent: OutsidePlace["agent"]): string {
  return `dialog of ${agentTitle(agent)}`;
}

function wasAsked(session: Session): boolean {
  return [...session.state.calls.values()].some((call) => "answer" in call && call.answer !== null);
}

async function endUnclaimed(context: Context, session: Session, { results }: BatchReport): Promise<GuardVerdict> {
  const [report] = results;
  if (!report) throw new Error("the dispatcher returned no report of the call");
  if (report.outcome === "waiting") {
    await session.close("parked", 75);
    return { verdict: "deny", reason: waitingReason(report.approvalId ?? "", storeFlag(context)) };
  }
  await session.close("failed", 1);
  const { content } = report.result;
  return { verdict: "deny", reason: typeof content === "string" ? content : "Assent denied this call." };
}

export function waitingReason(approval: string, flags: string): string {
  return [
    `Not run: it waits for approval ${approval}, and no one answered in time.`,
    `A person can answer with: assent approve ${approval}${flags}.`,
    "After that, make the same call again; it then runs once.",
  ].join(" ");
}

import {
  type Answer,
  AnswerError,
  type CallReport,
  isAcceptedPlace,
  isAsked,
  type OpenApproval,
  oneLine,
  ParkRequest,
  type ToolResult,
  visible,
} from "@assent/core";
import { currentUser } from "@assent/host";
import type { ClientAnswer, GatewayCall, GatewayConnection, GatewayEnd } from "@assent/mcp/gateway";
import type { Context } from "../command-line/spec.ts";
import type { FollowedPolicy } from "../compose/follow-policy.ts";
import { waitingReason } from "../guard/decide.ts";
import { untilAborted } from "../io/cancel-on-signal.ts";
import { storeFlag } from "../store/location.ts";
import { type CallRecord, createCallRecord, type GatewayParts, type Lane, type OpenCall, recordedKey, requestKey } from "./call-record.ts";

/** Decides about the calls of one client. */
export type CallDesk = Pick<GatewayConnection, "call"> & { readonly close: () => Promise<void> };

/** A request that waits for the end of a call. Several may wait for the same call. */
type Waiter = { readonly call: GatewayCall; readonly hold: () => void };

type LiveCall = {
  readonly key: string;
  readonly stop: AbortController;
  readonly waiters: Set<Waiter>;
  phase: "deciding" | "asking" | "running";
  /** Resolves when the phase changes, or the call has ended. */
  readonly decided: PromiseWithResolvers<void>;
  approval: string | undefined;
  /** The client asks this and calls again. */
  question: string | undefined;
  end: Promise<GatewayEnd>;
};

/**
 * A request of a client, in order:
 * 1. The same call is being decided: the request waits for that, so that two requests never continue one call.
 * 2. The same call is being asked about: the request waits for its end, too.
 * 3. The same call waits for approval from before, or was approved: it continues where it was.
 * 4. Otherwise it is a new call.
 *
 * A call that waits is held until the limit. It then stays open, and runs only if the client makes it again.
 */
export function createCallDesk(context: Context, parts: GatewayParts & { readonly policy: FollowedPolicy }): CallDesk {
  const { policy, ports, client, holdMs } = parts;
  const live = new Set<LiveCall>();
  const served = new Map<Lane, LiveCall>();
  let isClosed = false;
  const place = `elicitation:${client.name}`;
  /** Only a client that settings name may answer. A client that accepts by itself must not approve its own calls. */
  const mayAnswer = (): boolean => {
    const { answersFrom } = policy.source.settings();
    return answersFrom !== undefined && isAcceptedPlace(answersFrom, place);
  };
  const toAnswer = (approval: Pick<Answer, "approval" | "revision">, given: NonNullable<ClientAnswer>): Answer => {
    const { user } = currentUser();
    return { ...approval, outcome: given, by: { kind: "host", user, name: client.title, door: "mcp", from: place, pid: process.pid } };
  };
  const ask = async (call: LiveCall, approval: OpenApproval, signal: AbortSignal): Promise<Answer | undefined> => {
    call.approval = approval.id;
    enterPhase(call, "asking");
    for (const waiter of call.waiters) waiter.hold();
    const [asker] = [...call.waiters].map((waiter) => waiter.call);
    const question = mayAnswer() && asker?.answer === undefined ? questionText(approval, client.title) : undefined;
    if (question !== undefined && asker?.canAskBetween) {
      call.question = question;
      return undefined;
    }
    const given = question === undefined ? undefined : await asker?.ask?.(question, signal).catch(() => undefined);
    if (given) return toAnswer({ approval: approval.id, revision: approval.revision }, given);
    await untilAborted(signal);
    return undefined;
  };
  const record = createCallRecord(context, {
    ...parts,
    approver: (lane) => ({
      available: () => true,
      ask: async (approval, signal) => {
        const call = served.get(lane);
        return call && (await ask(call, approval, signal));
      },
    }),
  });
  const start = (key: string, request: GatewayCall): LiveCall => {
    const call: LiveCall = {
      ...{ key, stop: new AbortController(), waiters: new Set<Waiter>(), phase: "deciding", decided: Promise.withResolvers<void>() },
      ...{ approval: undefined, question: undefined, end: Promise.resolve({ state: "refused", text: "" }) },
    };
    live.add(call);
    call.end = run(call, request).finally(() => {
      live.delete(call);
      call.decided.resolve();
    });
    return call;
  };
  const run = async (call: LiveCall, request: GatewayCall): Promise<GatewayEnd> => {
    const open = await findOpenCall(parts, record, { key: call.key, request, live });
    if (open === "refused") return { state: "refused", text: NOT_OPEN };
    const isOther = open !== undefined && !record.isOwn(open.session);
    const lane = (isOther ? await openWithRetries(parts, record, open) : undefined) ?? (await record.takeLane());
    const resumed = open?.session === lane.session.id ? open : undefined;
    served.set(lane, call);
    let uncut: ToolResult | undefined;
    try {
      if (resumed && request.answer) await recordAnswer(lane, request.answer);
      const batch = { tools: policy.tools, signal: call.stop.signal, newPrompt: true };
      const emit: Parameters<typeof lane.dispatcher.process>[1] = (event) => {
        if (event.type === "toolCall") {
          enterPhase(call, "running");
          for (const waiter of call.waiters) waiter.call.started(event.callId);
        }
        if (event.type === "response") uncut = event.result;
      };
      const { results } = resumed
        ? await lane.dispatcher.resume({ ...batch, only: new Set([resumed.callId]) }, emit)
        : await lane.dispatcher.process({ ...batch, calls: [{ name: request.tool, arguments: request.input }] }, emit);
      const failure = lane.dispatcher.failure();
      if (failure !== undefined) throw failure;
      return endOf(context, call, results[0], uncut);
    } finally {
      served.delete(lane);
      await record.giveBack(lane);
    }
  };
  const recordAnswer = async ({ dispatcher }: Lane, { approval, given }: NonNullable<GatewayCall["answer"]>): Promise<void> => {
    if (given === undefined || !mayAnswer()) return;
    try {
      await dispatcher.answer(toAnswer({ approval }, given));
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error; // it was answered elsewhere meanwhile; that answer counts
    }
  };
  /** Waits for the end of a call, at most for the limit while it is asked about. */
  const waitForEnd = async (call: LiveCall, request: GatewayCall): Promise<GatewayEnd> => {
    const left = Promise.withResolvers<GatewayEnd>();
    let stopTimer: (() => void) | undefined;
    const leave = (): void => {
      if (call.waiters.size > 1) left.resolve(waitingEnd(context, call));
      else stopCall(call);
      call.waiters.delete(waiter);
    };
    const hold = (): void => {
      stopTimer ??= ports.clock.timer(holdMs, () => call.phase === "asking" && leave(), { keepsAlive: true });
    };
    const waiter: Waiter = { call: request, hold };
    call.waiters.add(waiter);
    if (call.phase === "asking") hold();
    const leaveUnlessRunning = (): void => void (call.phase !== "running" && leave());
    const over = [[request.signal, leave] as const, ...(request.lost ? [[request.lost, leaveUnlessRunning] as const] : [])];
    for (const [signal, stop] of over) {
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    }
    try {
      return await Promise.race([call.end, left.promise]);
    } finally {
      stopTimer?.();
      for (const [signal, stop] of over) signal.removeEventListener("abort", stop);
      call.waiters.delete(waiter);
    }
  };
  const sameCall = (key: string): LiveCall | undefined => [...live].find((one) => one.key === key && one.phase !== "running");
  return {
    call: async (request) => {
      if (isClosed) return { state: "refused", text: GONE };
      const key = requestKey(request.tool, request.input);
      for (let same = sameCall(key); same; same = sameCall(key)) {
        if (same.phase === "asking" && !request.answer) return await waitForEnd(same, request);
        if (same.phase === "asking") break;
        await same.decided.promise;
      }
      if (isClosed || request.signal.aborted || request.lost?.aborted) return { state: "refused", text: GONE };
      return await waitForEnd(start(key, request), request);
    },
    close: async () => {
      isClosed = true;
      const calls = [...live];
      for (const call of calls) stopCall(call);
      await Promise.allSettled(calls.map(({ end }) => end));
      await record.close();
    },
  };
}

const NOT_OPEN = "requestState does not name an open approval for this call. Make the call again without it.";

const GONE = "The connection is closed.";

function enterPhase(call: LiveCall, phase: "asking" | "running"): void {
  call.phase = phase;
  call.decided.resolve();
}

/** Ends a running call; one that waits stays open. */
function stopCall({ phase, stop }: LiveCall): void {
  stop.abort(phase === "running" ? undefined : new ParkRequest());
}

/** The recorded call that a request continues. `refused`: the answer belongs to another call, or to none that is open. */
async function findOpenCall(
  { store: { ledger } }: GatewayParts,
  record: CallRecord,
  { key, request: { answer }, live }: { readonly key: string; readonly request: GatewayCall; readonly live: ReadonlySet<LiveCall> },
): Promise<OpenCall | undefined | "refused"> {
  const inUse = new Set([...live].flatMap(({ approval }) => approval ?? []));
  const open = (await record.openCalls()).filter(({ approval }) => approval === null || !inUse.has(approval));
  if (answer) {
    const named = open.find(({ approval }) => approval === answer.approval);
    return named && (await recordedKey(ledger, named)) === key ? named : "refused";
  }
  for (const one of open) if ((await recordedKey(ledger, one)) === key) return one;
  return undefined;
}

const RETRY_MS = 100;
const RETRIES = 30;

/** A lane in the session of a call that still waits. The gateway of the client's last connection may still be ending, or use the call itself. */
async function openWithRetries({ ports: { clock } }: GatewayParts, record: CallRecord, open: OpenCall): Promise<Lane | undefined> {
  for (let tries = 0; tries < RETRIES; tries += 1) {
    const lane = await record.openLane(open.session);
    const call = lane?.session.state.calls.get(open.callId);
    if (lane && call && isAsked(call)) return lane;
    if (lane) return void (await record.giveBack(lane));
    await new Promise<void>((resolve) => clock.timer(RETRY_MS, resolve, { keepsAlive: true }));
  }
  return undefined;
}

/** Results of one batch are cut for a model; the client gets the whole result. */
const BATCH_CHARS = 200_000;

function endOf(context: Context, call: LiveCall, report: CallReport | undefined, uncut: ToolResult | undefined): GatewayEnd {
  if (!report) throw new Error("the runtime gave no report of the call");
  const { callId } = report;
  if (report.outcome === "waiting") {
    call.approval = report.approvalId ?? call.approval;
    return waitingEnd(context, call);
  }
  const isLong = uncut !== undefined && JSON.stringify(uncut.content).length > BATCH_CHARS;
  return { state: "ended", callId, result: isLong ? uncut : report.result };
}

function waitingEnd(context: Context, { approval = "", question }: LiveCall): GatewayEnd {
  const text = waitingReason(approval, storeFlag(context));
  return { state: "waiting", approval, text, ...(question !== undefined && { question }) };
}

const LONGEST_INPUT = 2_000;

/** The question at the client. Undefined if the form cannot show all of the input; the call is then held. */
function questionText({ tool, input }: OpenApproval, client: string): string | undefined {
  const text = visible(JSON.stringify(input, null, 2));
  return text.length > LONGEST_INPUT ? undefined : `${oneLine(client)} wants to call ${oneLine(tool)} with:\n${text}`;
}

import { type ConversationEvent, type RunEnd, recordedHistory, ScriptFailure } from "@assent/agent";
import { openSession, type ProposalRow, type Session } from "@assent/core";
import { thisHolder } from "@assent/host";
import { composeAgent } from "../agent-composition.ts";
import { type CallFlags, givenOnAsk, keptFlags, resumedFlags } from "../call-flags.ts";
import type { CallPlace } from "../call-place.ts";
import { callPorts } from "../call-runtime.ts";
import { type Cancelling, cancelOnSignal } from "../cancel-on-signal.ts";
import type { Context } from "../command-spec.ts";
import { cut } from "../display-width.ts";
import { type FollowedPolicy, followPolicy } from "../follow-policy.ts";
import type { Store } from "../open-store.ts";
import { warn } from "../output.ts";
import { VERSION } from "../version.ts";
import { oneLine } from "../visible-text.ts";
import { type RunModel, runModel } from "./run-model.ts";

/** A run to make. */
export type NewRun = {
  readonly prompt: string;
  readonly flags: CallFlags;
  readonly place: CallPlace;
  readonly policy: FollowedPolicy;
  readonly chosen: RunModel;
};

/** How a run was left. */
export type RunLeft = { readonly sessionId: string; readonly end: RunEnd; readonly exit: number; readonly parked: readonly ProposalRow[] };

const LONGEST_MS = 2 ** 30;

type Attending = { readonly ports: ReturnType<typeof callPorts>; readonly cancelling: Cancelling };

async function attend<T>(context: Context, { directory }: Store, work: (attending: Attending) => Promise<T>): Promise<T> {
  const ports = callPorts(context, directory);
  const cancelling = cancelOnSignal(context.io, ports.clock);
  const alive = setInterval(() => undefined, LONGEST_MS); // timers of the runtime do not keep a process alive; a run under way does
  try {
    return await work({ ports, cancelling });
  } finally {
    clearInterval(alive);
    cancelling.release();
  }
}

/** Opens a session, says the prompt to the model, and lets it work to its end. */
export function beginRun(context: Context, store: Store, { policy, place, flags, prompt, chosen }: NewRun): Promise<RunLeft> {
  return attend(context, store, async (attending) => {
    const { ports, cancelling } = attending;
    const settings = policy.source.settings();
    const { mode, revision } = policy.source.current();
    const title = cut(oneLine(prompt.slice(0, 200)), 80);
    const options = { ...keptFlags(flags, givenOnAsk(context)), command: "run", model: chosen.id };
    const session = await openSession(
      { ledger: store.ledger, ...ports },
      {
        holder: thisHolder("run"),
        create: { ...place, door: "run", mode, model: chosen.id, version: VERSION, policy: revision, title, options },
      },
    );
    const observe = (event: ConversationEvent): void => void tell(context, event);
    const { converse, close } = await composeAgent(context, { ...attending, session, policy, chosen, unattended: settings.onAsk, observe });
    const end = await finish(() => converse([]).send(prompt, cancelling.signal), chosen).finally(close);
    return await leave(session, end);
  });
}

/** Takes up a run where it was left: first its open calls, then the model. Undefined: it had come to its end, and there is no new prompt. */
export function resumeRun(
  context: Context,
  store: Store,
  { id, prompt }: { readonly id: string; readonly prompt: string | undefined },
): Promise<RunLeft | undefined> {
  return attend(context, store, async (attending) => {
    const { ledger } = store;
    const { ports, cancelling } = attending;
    const holder = thisHolder("resume");
    const session = await openSession({ ledger, ...ports }, { holder, id, takeOver: context.options.flag("take-over") });
    const { created, closed } = session.state;
    const flags = resumedFlags(created?.options, context);
    const policy = await followPolicy(context, { workspace: created?.workspace ?? "", flags, ledger });
    const chosen = await runModel(context, session.state.model ?? undefined, ports.clock);
    const observe = (event: ConversationEvent): void => void tell(context, event);
    const parts = { ...attending, session, policy, chosen, unattended: "park", observe } as const;
    const { converse, dispatcher, close } = await composeAgent(context, parts);
    const talk = async (): Promise<RunEnd> => {
      const { results } = await dispatcher.resume({ tools: policy.tools, signal: cancelling.signal });
      if (results.some(({ outcome }) => outcome === "waiting")) return { reason: "parked", text: "" };
      const { messages, providerId } = await recordedHistory(ledger, id);
      chosen.script?.resumeAfter(providerId);
      const conversation = converse(messages);
      if (prompt !== undefined) return await conversation.send(prompt, cancelling.signal);
      return closed?.reason === "done" ? { reason: "done", text: "" } : await conversation.goOn(cancelling.signal);
    };
    const end = await finish(talk, closed?.reason === "done" && prompt === undefined ? undefined : chosen).finally(close);
    const left = await leave(session, end);
    return closed?.reason === "done" && prompt === undefined ? undefined : left;
  });
}

/** A script must have been played to its end, where the run came to its own. */
async function finish(talk: () => Promise<RunEnd>, chosen: RunModel | undefined): Promise<RunEnd> {
  const end = await talk();
  if (end.reason !== "done") return end;
  try {
    chosen?.script?.refuseUnused();
    return end;
  } catch (error) {
    if (!(error instanceof ScriptFailure)) throw error;
    return { ...end, reason: "failed", error: { type: error.type, message: error.message } };
  }
}

async function tell({ io, options }: Context, event: ConversationEvent): Promise<void> {
  if (options.flag("quiet")) return;
  if (event.type === "parked")
    await io.stderr.write(
      `${oneLine(event.proposal.label)} waits for you: assent apply ${event.proposal.id}, or assent discard ${event.proposal.id}\n`,
    );
  if (event.type === "warning") await warn(io, event.message);
}

const SCRIPT_ENDS: readonly string[] = ["expectation_failed", "script_exhausted", "script_unused"];

function exitOf({ reason, error }: RunEnd): number {
  switch (reason) {
    case "done":
      return 0;
    case "parked":
      return 75;
    case "cancelled":
      return 130;
    case "turn_limit":
      return 53;
    default:
      return SCRIPT_ENDS.includes(error?.type ?? "") ? 70 : 1;
  }
}

const CLOSED = {
  done: "done",
  parked: "parked",
  cancelled: "cancelled",
  turn_limit: "limit",
  failed: "failed",
  stopped: "failed",
} as const;

async function leave(session: Session, end: RunEnd): Promise<RunLeft> {
  const exit = exitOf(end);
  const parked = [...session.state.proposals.values()].filter((row) => row.parked);
  await session.close(CLOSED[end.reason], exit);
  return { sessionId: session.id, end, exit, parked };
}

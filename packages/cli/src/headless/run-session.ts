import { type Conversation, type ConversationEvent, createConversation, type RunEnd, ScriptFailure, systemPrompt } from "@assent/agent";
import { openSession, type ProposalRow, type Session } from "@assent/core";
import { thisHolder } from "@assent/host";
import type { CallFlags } from "../call-flags.ts";
import { givenOnAsk, keptFlags } from "../call-flags.ts";
import type { CallPlace } from "../call-place.ts";
import { callDispatcher, callPorts } from "../call-runtime.ts";
import { type Cancelling, cancelOnSignal } from "../cancel-on-signal.ts";
import type { Context } from "../command-spec.ts";
import { cut } from "../display-width.ts";
import type { FollowedPolicy } from "../follow-policy.ts";
import type { Store } from "../open-store.ts";
import { warn } from "../output.ts";
import { VERSION } from "../version.ts";
import { oneLine } from "../visible-text.ts";
import { runModel } from "./run-model.ts";

/** A run to make. */
export type NewRun = { readonly prompt: string; readonly flags: CallFlags; readonly place: CallPlace; readonly policy: FollowedPolicy };

/** How a run was left. */
export type RunLeft = { readonly sessionId: string; readonly end: RunEnd; readonly exit: number; readonly parked: readonly ProposalRow[] };

const LONGEST_MS = 2 ** 30;

/** Opens a session, says the prompt to the model, and lets it work to its end. */
export async function beginRun(context: Context, store: Store, run: NewRun): Promise<RunLeft> {
  const ports = callPorts(context, store.directory);
  const cancelling = cancelOnSignal(context.io, ports.clock);
  const alive = setInterval(() => undefined, LONGEST_MS); // timers of the runtime do not keep a process alive; a run under way does
  try {
    return await converse(context, store, { run, ports, cancelling });
  } finally {
    clearInterval(alive);
    cancelling.release();
  }
}

type Running = { readonly run: NewRun; readonly ports: ReturnType<typeof callPorts>; readonly cancelling: Cancelling };

async function converse(context: Context, store: Store, { run, ports, cancelling }: Running): Promise<RunLeft> {
  const { policy, place, flags, prompt } = run;
  const settings = policy.source.settings();
  const chosen = await runModel(context, context.options.text("model") ?? settings.model, ports.clock);
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
  policy.serve(session.id);
  const { dispatcher, planMode, onAsk, asks, close } = await callDispatcher(context, {
    session,
    ports,
    policy,
    cancelling,
    onAsk: givenOnAsk(context),
    unattended: settings.onAsk,
  });
  const system = systemPrompt({ cwd: place.cwd, planFile: session.state.planning?.file });
  const maxTurns = context.options.count("max-turns");
  const conversation = createConversation({
    session,
    dispatcher,
    ...ports,
    tools: () => policy.tools,
    model: chosen.model,
    capabilities: chosen.capabilities,
    system: () => system,
    steering: () => policy.source.settings()["proposals.steering"],
    maxConsecutiveToolCalls: settings.maxConsecutiveToolCalls,
    ...(maxTurns !== undefined && { maxTurns }),
    plan: planMode.plan,
    onAsk,
    asks,
    observe: (event) => void tell(context, event),
  });
  const end = await finish(conversation, { prompt, signal: cancelling.signal, unused: chosen.script?.refuseUnused }).finally(close);
  return await leave(session, end);
}

type Finishing = { readonly prompt: string; readonly signal: AbortSignal; readonly unused: (() => void) | undefined };

async function finish({ send }: Conversation, { prompt, signal, unused }: Finishing): Promise<RunEnd> {
  const end = await send(prompt, signal);
  if (end.reason !== "done") return end;
  try {
    unused?.();
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

import type { RunLimits } from "@assent/agent";
import { type By, createDispatcher, type Dispatcher, type DispatcherDeps, type Session } from "@assent/core";
import { enterPlanMode, type Modes, type PlanMode } from "@assent/core/parts";
import { createHostFileChanges, type HookRunner, type HostPorts } from "@assent/host";
import type { Context } from "../command-line/spec.ts";
import { approvalEditor } from "../desk/approvals/editor.ts";
import { type RevisionParts, revisionParts } from "../desk/approvals/revise.ts";
import { terminalApprover } from "../desk/terminal/approver.ts";
import { oneAtATime, type PersonChannels } from "../desk/terminal/one-at-a-time.ts";
import { terminalQuestioner } from "../desk/terminal/questioner.ts";
import type { Cancellation } from "../io/cancel-on-signal.ts";
import { warn } from "../io/output.ts";
import { commandPlace, personBy } from "../io/who.ts";
import type { OnAsk } from "./flags.ts";
import type { FollowedPolicy } from "./follow-policy.ts";
import type { FrontEnd, SessionObserver } from "./front-end.ts";
import { createHooks } from "./hook-runner.ts";
import { attendPlans, openSessionModes } from "./session-modes.ts";

export type DispatcherParts = {
  readonly session: Session;
  readonly ports: HostPorts;
  readonly policy: FollowedPolicy;
  readonly cancelling: Cancellation;
  /** From `--on-ask`. */
  readonly onAsk: OnAsk | undefined;
  /** The default of `onAsk`. */
  readonly unattended: OnAsk;
  /** Changes the mode of a resumed session. */
  readonly mode?: string | undefined;
  /** By default the terminal, if there is one. */
  readonly frontEnd?: FrontEnd | undefined;
  readonly limits?: RunLimits | undefined;
  /** Fingerprints of calls with unknown outcome, in any session of the run. */
  readonly unknown?: ReadonlySet<string> | undefined;
  readonly handlers?: DispatcherDeps["handlers"];
};

export type SessionDispatcher = {
  readonly dispatcher: Dispatcher;
  readonly modes: Modes;
  readonly planMode: PlanMode;
  readonly onAsk: OnAsk;
  /** True if someone can answer questions, now or later. */
  readonly asks: () => boolean;
  readonly observe: SessionObserver["observe"];
  readonly hooks: HookRunner;
  readonly channels: Pick<DispatcherDeps, "approver" | "questioner"> & { readonly by: By };
  readonly close: () => Promise<void>;
};

/** Asks at the terminal if there is one and `--on-ask` is not given. */
export async function createSessionDispatcher(context: Context, runtime: DispatcherParts): Promise<SessionDispatcher> {
  const { session, policy, frontEnd } = runtime;
  const { decided, observe = () => undefined } = (await frontEnd?.attend(session, session.state.created?.parent?.call ?? null)) ?? {};
  const seat = reachPerson(context, runtime);
  const { by, onAsk, channels } = seat;
  const asks = (): boolean => seat.attended || onAsk === "park" || frontEnd?.asks?.() === true;
  context.attendance.attend(session.id, () => channels.approver?.available() === true);
  const hooks = createHooks(context, runtime);
  policy.useReadsFrom(session.ledger);
  const modes = await openSessionModes(context, runtime, by.name);
  if (runtime.mode !== undefined) await modes.change(runtime.mode, by.name);
  const deps: DispatcherDeps = {
    ...commonDeps(context, runtime),
    by,
    policy: modes,
    handlers: { enter_plan_mode: enterPlanMode(modes, asks), ...runtime.handlers },
    onAsk,
    ...channels,
    ...(decided && { decided }),
    hooks,
  };
  const dispatcher = createDispatcher(deps);
  const planMode = attendPlans(runtime, modes, dispatcher);
  const close = (): void => {
    dispatcher.close();
    planMode.close();
    modes.close();
    policy.source.close();
  };
  const made = { dispatcher, modes, planMode, onAsk, asks, hooks, observe, channels: { by, ...channels } };
  return { ...made, close: () => hooks.idle().finally(close) };
}

type PersonReach = {
  readonly attended: boolean;
  readonly onAsk: OnAsk;
  readonly by: By;
  readonly channels: Pick<DispatcherDeps, "approver" | "questioner">;
};

function reachPerson(context: Context, runtime: DispatcherParts): PersonReach {
  const { io } = context;
  const { approver, questioner } = runtime.frontEnd ?? {};
  const attended = !approver && runtime.onAsk === undefined && io.stdinIsTTY && io.stderr.isTTY;
  const by = personBy({ door: "call", from: commandPlace(io) });
  return {
    attended,
    by,
    onAsk: runtime.onAsk ?? (attended ? "park" : runtime.unattended),
    channels: attended ? askAtTerminal(context, runtime, by) : { ...(approver && { approver }), ...(questioner && { questioner }) },
  };
}

export function commonDeps(
  { io }: Context,
  { session, ports, policy, limits, unknown, frontEnd }: Omit<DispatcherParts, "cancelling" | "onAsk" | "unattended">,
): Omit<DispatcherDeps, "policy"> {
  const { clock, ids, digest, files, processes } = ports;
  const settings = policy.source.settings();
  const { "tools.maxConcurrency": maxConcurrency, "tools.timeoutMs": timeoutMs, "recovery.retryIdempotent": retryIdempotent } = settings;
  const { tools, rules, facts } = policy;
  return {
    ...{ session, clock, ids, digest, files, processes, tools, rules, facts, maxConcurrency, retryIdempotent },
    changes: createHostFileChanges(),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(limits && { mayClaim: limits.claim }),
    ...(unknown && { unknown }),
    ...(frontEnd?.approvalTimeoutMs && { approvalTimeoutMs: frontEnd.approvalTimeoutMs }),
    answersFrom: () => policy.source.settings().answersFrom,
    askTimeout: () => policy.source.settings()["ask.timeout"],
    warn: (message) => void warn(io, message),
  };
}

function askAtTerminal({ io }: Context, { ports, policy, cancelling }: DispatcherParts, by: By): PersonChannels {
  const { clock } = ports;
  const { source } = policy;
  const revising = (): RevisionParts => revisionParts(policy, ports, source.current);
  const edit = approvalEditor({ environment: io.env, setting: () => source.settings().editor, revising });
  return oneAtATime({
    approver: terminalApprover({ io, clock, by, cancel: cancelling.cancel, edit }),
    questioner: terminalQuestioner({ io, clock, by }),
  });
}

import { resolve } from "node:path";
import { type AgentSession, createRunLimits, readHistory } from "@assent/agent";
import { openSession, ParkRequest, type Session } from "@assent/core";
import type { HostPorts } from "@assent/host";
import { inDirectory } from "../../call/session.ts";
import type { Context } from "../../command-line/spec.ts";
import { type ComposedAgent, composeAgent } from "../../compose/agent.ts";
import { type CallFlags, flagsForRecord, mergeResumedFlags, readFlags, readOnAsk } from "../../compose/flags.ts";
import { type FollowedPolicy, followPolicy } from "../../compose/follow-policy.ts";
import type { FrontEnd } from "../../compose/front-end.ts";
import { commandHolder } from "../../compose/keep-alive.ts";
import { type RunModel, resolveRunModel } from "../../compose/model.ts";
import { isDirectory, type WorkPlace } from "../../compose/place.ts";
import { titleFrom } from "../../compose/redaction.ts";
import { listWaitingIn, waitsForPerson } from "../../desk/approvals/waiting-list.ts";
import { refuseAgentSession } from "../../desk/sessions/agent-session.ts";
import type { RunFlags } from "../../headless/run/flags.ts";
import { closeReason } from "../../headless/run/outcome.ts";
import { armSchedules } from "../../headless/run/schedule-file.ts";
import type { Cancellation } from "../../io/cancel-on-signal.ts";
import { CommandError } from "../../io/failure.ts";
import type { Store } from "../../store/store.ts";
import { VERSION } from "../../version.ts";

export type SharedParts = {
  readonly context: Context;
  readonly store: Store;
  readonly ports: HostPorts;
  readonly cancelling: Cancellation;
  readonly run: RunFlags;
  readonly door: (root: string) => FrontEnd;
  readonly onDrained: (end: Awaited<ReturnType<AgentSession["drain"]>>) => void;
};

export type PreparedSession = {
  readonly policy: FollowedPolicy;
  readonly chosen: RunModel;
  readonly flags: CallFlags;
  readonly place: WorkPlace;
};

export type TuiSession = {
  readonly session: Session;
  readonly policy: FollowedPolicy;
  readonly chosen: RunModel;
  readonly agent: ComposedAgent;
  /** Talks to the model; reads the history on first use. */
  readonly drive: () => Promise<AgentSession>;
  /** It was finished when opened, so nothing continues by itself. */
  readonly wasDone: boolean;
  /** Closes it, pausing agents that wait for a person. Resolves with the exit code. */
  readonly leave: () => Promise<number>;
};

export async function prepareSession({ context, store, ports }: SharedParts, place: WorkPlace, model?: string): Promise<PreparedSession> {
  const flags = readFlags(context);
  const policy = await followPolicy(context, { workspace: place.workspace, flags, ledger: store.ledger });
  try {
    const wanted = model ?? context.options.text("model") ?? policy.source.settings().model;
    const chosen = await resolveRunModel(context, wanted, ports.clock);
    return { policy, chosen, flags, place };
  } catch (error) {
    policy.source.close();
    throw error;
  }
}

export async function beginSession(shared: SharedParts, prepared: PreparedSession, title: string): Promise<TuiSession> {
  const { context, store, ports } = shared;
  const { policy, chosen, flags, place } = prepared;
  const { mode, revision } = policy.source.current();
  const options = { ...flagsForRecord(flags, readOnAsk(context)), command: "tui", model: chosen.id };
  const create = { ...place, door: "tui", mode, model: chosen.id, version: VERSION, policy: revision, options };
  const session = await openSession(
    { ledger: store.ledger, ...ports },
    { holder: commandHolder(context, "tui"), create: { ...create, title: titleFrom(title, policy.source.settings()) } },
  );
  return await composeSession(shared, { session, policy, chosen, wasDone: true });
}

export async function resumeSession(shared: SharedParts, id: string): Promise<TuiSession> {
  const { context, store, ports } = shared;
  await refuseAgentSession(store.ledger, id);
  const opened = await openSession(
    { ledger: store.ledger, ...ports },
    { holder: commandHolder(context, "tui"), id, takeOver: context.options.flag("take-over") },
  );
  const wasDone = opened.state.closed?.reason === "done" && opened.state.calls.size === 0;
  try {
    const session = sessionInDirectory(context, opened);
    const flags = mergeResumedFlags(session.state.created?.options, context);
    const policy = await followPolicy(context, { workspace: session.state.created?.workspace ?? "", flags, ledger: store.ledger });
    const chosen = await resolveRunModel(context, context.options.text("model") ?? session.state.model ?? undefined, ports.clock);
    const made = await composeSession(shared, { session, policy, chosen, wasDone });
    const { mode } = readFlags(context);
    if (mode !== undefined) await made.agent.modes.change(mode, "tui");
    return made;
  } catch (error) {
    await opened.close("parked", 75);
    throw error;
  }
}

function sessionInDirectory({ io, options }: Context, session: Session): Session {
  const given = options.text("cwd");
  const cwd = given === undefined ? undefined : resolve(io.cwd, given);
  const before = session.state.created?.cwd ?? "";
  if (cwd !== undefined || isDirectory(before)) return inDirectory(session, cwd);
  throw new CommandError("cwd_missing", 1, {
    message: `The directory of this session no longer exists: ${before}`,
    hint: `Resume it in another directory, where pending approvals are asked again: assent resume ${session.id} --cwd DIR`,
  });
}

type SessionBasis = Pick<TuiSession, "session" | "policy" | "chosen" | "wasDone">;

async function composeSession(shared: SharedParts, { session, policy, chosen, wasDone }: SessionBasis): Promise<TuiSession> {
  const { context, ports, cancelling, run, onDrained } = shared;
  const { maxCostUsd } = policy.source.settings();
  const limits = createRunLimits({ clock: ports.clock, ...run, maxCostUsd });
  const agent = await composeAgent(context, {
    ...{ session, ports, policy, chosen, cancelling, limits, onDrained },
    unattended: "park",
    interactive: true,
    frontEnd: shared.door(session.id),
  });
  await armSchedules(agent.schedules, run.schedules);
  let driving: Promise<AgentSession> | undefined;
  const start = async (): Promise<AgentSession> => {
    const { messages, providerId } = await readHistory(session.ledger, session.id);
    chosen.script?.resumeAfter(providerId);
    return agent.drive(messages);
  };
  return {
    ...{ session, policy, chosen, agent, wasDone },
    drive: () => {
      driving ??= start();
      return driving;
    },
    leave: async () => {
      const drive = await driving?.catch(() => undefined);
      await (drive ? drive.shutdown("person", { park: true }) : Promise.all([agent.tasks.parkAll("person"), agent.schedules.stop()]));
      await agent.close();
      const waits = session.state.calls.size > 0 || (await waitsForPerson(session)) || (await listWaitingIn(session)).length > 0;
      const exit = waits ? 75 : ParkRequest.isReasonOf(cancelling.signal) ? 130 : 0;
      await session.close(closeReason(exit), exit);
      return exit;
    },
  };
}

import { hasWakingNotice, nextDue, readScheduleEntry } from "@assent/agent";
import { type Ledger, openSession, readRow, readSessionState, type Session, type SessionState } from "@assent/core";
import { inDirectory } from "../../call/session.ts";
import type { Context } from "../../command-line/spec.ts";
import type { ComposedAgent } from "../../compose/agent.ts";
import { type CallFlags, mergeResumedFlags, readFlags } from "../../compose/flags.ts";
import { type FollowedPolicy, followPolicy } from "../../compose/follow-policy.ts";
import { commandHolder, keepAlive } from "../../compose/keep-alive.ts";
import { type RunModel, resolveRunModel } from "../../compose/model.ts";
import { otherDirectory, type WorkPlace } from "../../compose/place.ts";
import { refuseAgentSession } from "../../desk/sessions/agent-session.ts";
import type { Store } from "../../store/store.ts";
import { detachedRun, readCreated } from "../../worker/requirements.ts";
import type { Work } from "../host/inbox.ts";
import { conductRun, type RunParts } from "./conduct.ts";
import { createRunSession } from "./create-session.ts";
import type { RunFlags } from "./flags.ts";
import { reportNotices, reportPausedTasks, resumeUnblocked } from "./paused-tasks.ts";
import type { ScheduleEntry } from "./schedule-file.ts";

export type NewRun = {
  /** Undefined: a host sends it. */
  readonly prompt: string | undefined;
  readonly id: string | undefined;
  readonly flags: CallFlags;
  readonly run: RunFlags;
  readonly place: WorkPlace;
  readonly policy: FollowedPolicy;
  readonly chosen: RunModel;
};

/** Opens a session and works to its end. Resolves with the exit code. */
export function beginRun(context: Context, store: Store, { policy, place, flags, prompt, chosen, run, id }: NewRun): Promise<number> {
  return keepAlive(context, store, async (attending) => {
    const { ports } = attending;
    const settings = policy.source.settings();
    const host = run.input === "stream-json" && { host: true }; // its hooks and tools are the host's, so no worker continues it
    const begun = { policy, place, flags, prompt, id, model: chosen.id, more: { ...host } };
    const session = await createRunSession(context, { ledger: store.ledger, ...ports }, begun);
    const work: Work[] = prompt === undefined ? [] : [{ say: prompt }];
    const parts = { session, policy, chosen, unattended: settings.onAsk, flags: run, work };
    return await conductRun(context, { ...attending, ...parts, resumed: false });
  });
}

export type ResumedRun = { readonly id: string; readonly prompt: string | undefined; readonly run: RunFlags };

/** Resumes a run: first its open calls, then the model. Undefined if there is nothing to do. */
export function resumeRun(context: Context, store: Store, { id, prompt, run }: ResumedRun): Promise<number | undefined> {
  return keepAlive(context, store, async (attending) => {
    const { ledger } = store;
    const { ports } = attending;
    await refuseAgentSession(ledger, id);
    const before = await readSessionState(ledger, id);
    const now = ports.clock.now();
    const unsent = await unsentRun(ledger, id, before, now);
    if (run.input === "text" && !unsent && remainingWork(before, prompt, now).length === 0) return undefined;
    const row = await readRow(ledger, "sessions", id);
    const cwd = row && otherDirectory(context, row);
    // What can fail is done before the session is opened, because it stays open after a failure.
    const { created, model } = before;
    const flags = mergeResumedFlags(created?.options, context);
    const policy = await followPolicy(context, { workspace: created?.workspace ?? "", flags, ledger });
    const open = async (): Promise<Pick<RunParts, "session" | "chosen">> => {
      const chosen = await resolveRunModel(context, context.options.text("model") ?? model ?? undefined, ports.clock);
      const holder = commandHolder(context, "resume");
      const session = await openSession({ ledger, ...ports }, { holder, id, takeOver: context.options.flag("take-over") });
      return { session: inDirectory(session, cwd), chosen };
    };
    const { session, chosen } = await open().catch((error: unknown) => {
      policy.source.close();
      throw error;
    });
    const first = unsent && (await unsentRun(ledger, id, session.state, now));
    const left = remainingWork(session.state, prompt, now);
    const work = first ? [{ say: first.prompt }, ...(prompt === undefined ? [] : left)] : left;
    const { closed } = session.state;
    if (closed && run.input === "text" && work.length === 0) {
      policy.source.close();
      await session.close(closed.reason, closed.exit); // another process finished it meanwhile
      return undefined;
    }
    const schedules = first && session.state.schedules.size === 0 ? first.schedules : run.schedules;
    const prepare = (agent: ComposedAgent): Promise<void> => prepareResumed(context, session, chosen, agent);
    const parts: Omit<RunParts, "ports" | "cancelling"> = {
      ...{ session, policy, chosen, work, prepare },
      ...{ unattended: "park", flags: { ...run, schedules }, resumed: true },
      joined: (agent) => resumeUnblocked(context, agent.tasks),
    };
    await session.record([session.draft("session.opened", { ...session.holder, recovered: [] })], "full");
    return await conductRun(context, { ...attending, ...parts });
  });
}

/** What remains to do; open calls continue before the new prompt. */
function remainingWork(state: Session["state"], prompt: string | undefined, now: number): readonly Work[] {
  if (prompt !== undefined) return [{ say: prompt }];
  if (state.closed?.reason !== "done") return [{ resume: "always" }];
  return isUnfinished(state, now) ? [{ resume: "if notified" }] : [];
}

function isUnfinished(state: Session["state"], now: number): boolean {
  const cutShort = [...state.proposals.values()].some((row) => row.state === "applying" || row.requested !== null);
  const isDue = [...state.schedules.values()].some((row) => row.durable && (nextDue(row) ?? Number.POSITIVE_INFINITY) <= now);
  return state.calls.size > 0 || hasWakingNotice({ state }) || state.tasks.size > 0 || cutShort || isDue;
}

async function prepareResumed(context: Context, session: Session, chosen: RunModel, agent: ComposedAgent): Promise<void> {
  const { mode } = readFlags(context);
  if (mode !== undefined) await agent.modes.change(mode, "resume");
  const from = session.state.model;
  await reportPausedTasks(context, agent.tasks, session.id);
  await reportNotices(context, session);
  if (from !== chosen.id) await session.record([session.draft("model.changed", { from, to: chosen.id, by: "resume" })], "normal");
}

/** A detached run whose prompt was not sent to the model yet. Schedules whose time has passed fire soon. */
async function unsentRun(ledger: Ledger, id: string, state: SessionState, now: number): Promise<UnsentRun | undefined> {
  const { options, forked } = state.created ?? {};
  if (forked || !options || !("detached" in options)) return undefined; // a fork has the prompt in its history
  for await (const _ of ledger.read({ session: id, seq: 0 }, { session: id, types: ["message.user"] })) return undefined;
  const run = detachedRun(await readCreated(ledger, id));
  if (!run) return undefined;
  const entries = Array.isArray(run["schedules"]) ? run["schedules"] : [];
  const schedules = entries.map((entry) => readScheduleEntry(entry, 0)).filter((entry) => typeof entry !== "string");
  const soon = new Date(now + SOON_MS).toISOString();
  return {
    prompt: run.prompt,
    schedules: schedules.map((entry) => (entry.at !== undefined && Date.parse(entry.at) < now + SOON_MS ? { ...entry, at: soon } : entry)),
  };
}

const SOON_MS = 5_000;

type UnsentRun = { readonly prompt: string; readonly schedules: readonly ScheduleEntry[] };

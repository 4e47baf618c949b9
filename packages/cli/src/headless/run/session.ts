import { resolve } from "node:path";
import { estimateCost, hasWakingNotice } from "@assent/agent";
import { type Ids, type Ledger, openSession, readSessionState, type Session } from "@assent/core";
import { inDirectory } from "../../call/session.ts";
import type { Context } from "../../command-line/spec.ts";
import type { ComposedAgent } from "../../compose/agent.ts";
import { type CallFlags, flagsForRecord, mergeResumedFlags, readFlags, readOnAsk } from "../../compose/flags.ts";
import { type FollowedPolicy, followPolicy } from "../../compose/follow-policy.ts";
import { commandHolder, keepAlive } from "../../compose/keep-alive.ts";
import { type RunModel, resolveRunModel } from "../../compose/model.ts";
import { isDirectory, type WorkPlace } from "../../compose/place.ts";
import { refuseAgentSession } from "../../desk/sessions/agent-session.ts";
import { cut } from "../../io/display-width.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { oneLine } from "../../io/visible-text.ts";
import type { Store } from "../../store/open.ts";
import { VERSION } from "../../version.ts";
import type { Work } from "../host/inbox.ts";
import { conductRun, type RunParts } from "./conduct.ts";
import type { RunFlags } from "./flags.ts";
import { reportNotices, reportPausedTasks, resumeUnblocked } from "./paused-tasks.ts";

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
    refuseUnpriced(policy, chosen);
    const { mode, revision } = policy.source.current();
    const title = cut(oneLine((prompt ?? "").trim().slice(0, 200)), 80);
    const options = { ...flagsForRecord(flags, readOnAsk(context)), command: "run", model: chosen.id };
    const session = await openSession(
      { ledger: store.ledger, ...ports, ids: id === undefined ? ports.ids : namedFirst(ports.ids, id) },
      {
        holder: commandHolder(context, "run"),
        create: { ...place, door: "run", mode, model: chosen.id, version: VERSION, policy: revision, title, options },
      },
    );
    const work: Work[] = prompt === undefined ? [] : [{ say: prompt }];
    const parts = { session, policy, chosen, unattended: settings.onAsk, flags: run, work };
    return await conductRun(context, { ...attending, ...parts, resumed: false });
  });
}

function namedFirst(ids: Ids, id: string): Ids {
  let given = false;
  return {
    next: (prefix) => {
      if (given || prefix !== "s_") return ids.next(prefix);
      given = true;
      return id;
    },
  };
}

/** Refuses a cost limit for a model without a known price. */
function refuseUnpriced(policy: FollowedPolicy, { id }: RunModel): void {
  const { maxCostUsd } = policy.source.settings();
  if (maxCostUsd === undefined || estimateCost(id, { inputTokens: 0, outputTokens: 0 }) !== undefined) return;
  throw new CommandError("limit_cost", 2, {
    message: `The price of ${id} is unknown, so maxCostUsd (${maxCostUsd}) cannot be enforced.`,
    hint: "Choose a listed model, or remove maxCostUsd from your settings.",
  });
}

export type ResumedRun = { readonly id: string; readonly prompt: string | undefined; readonly run: RunFlags };

/** Resumes a run: first its open calls, then the model. Undefined if there is nothing to do. */
export function resumeRun(context: Context, store: Store, { id, prompt, run }: ResumedRun): Promise<number | undefined> {
  return keepAlive(context, store, async (attending) => {
    const { ledger } = store;
    const { ports } = attending;
    await refuseAgentSession(ledger, id);
    if (run.input === "text" && remainingWork(await readSessionState(ledger, id), prompt).length === 0) return undefined;
    const cwd = await otherDirectory(context, ledger, id);
    const opened = await openSession(
      { ledger, ...ports },
      { holder: commandHolder(context, "resume"), id, takeOver: context.options.flag("take-over") },
    );
    const session = inDirectory(opened, cwd);
    const work = remainingWork(session.state, prompt);
    const { created, model } = session.state;
    const flags = mergeResumedFlags(created?.options, context);
    const policy = await followPolicy(context, { workspace: created?.workspace ?? "", flags, ledger });
    const chosen = await resolveRunModel(context, context.options.text("model") ?? model ?? undefined, ports.clock);
    const prepare = (agent: ComposedAgent): Promise<void> => prepareResumed(context, { session, chosen, agent });
    const parts: Omit<RunParts, "ports" | "cancelling"> = {
      ...{ session, policy, chosen, work, prepare },
      ...{ unattended: "park", flags: run, resumed: true },
      joined: (agent) => resumeUnblocked(context, agent.tasks),
    };
    await session.record([session.draft("session.opened", { ...session.holder, recovered: [] })], "full");
    return await conductRun(context, { ...attending, ...parts });
  });
}

/** What remains to do; open calls continue before the new prompt. */
function remainingWork(state: Session["state"], prompt: string | undefined): readonly Work[] {
  if (prompt !== undefined) return [{ say: prompt }];
  if (state.closed?.reason !== "done") return [{ resume: "always" }];
  return isUnfinished(state) ? [{ resume: "if notified" }] : [];
}

function isUnfinished(state: Session["state"]): boolean {
  const cutShort = [...state.proposals.values()].some((row) => row.state === "applying" || row.requested !== null);
  return state.calls.size > 0 || hasWakingNotice({ state }) || state.tasks.size > 0 || cutShort;
}

/** The new working directory, if given; otherwise the session's own must still exist. */
async function otherDirectory({ io, options }: Context, ledger: Ledger, id: string): Promise<string | undefined> {
  const given = options.text("cwd");
  const cwd = given === undefined ? undefined : resolve(io.cwd, given);
  if (cwd !== undefined && !isDirectory(cwd)) throw usageError("resume", `option '--cwd' must be a directory, but '${cwd}' is not.`);
  const [row] = await ledger.pending("sessions", { prefix: id, all: true, limit: 1 });
  if (cwd !== undefined || row === undefined || isDirectory(row.cwd)) return cwd;
  throw new CommandError("cwd_missing", 1, {
    message: `The directory of this session no longer exists: ${row.cwd}`,
    hint: `Continue in another directory, where waiting calls are asked again: assent resume ${id} --cwd DIR`,
  });
}

type ResumeParts = { readonly session: Session; readonly chosen: RunModel; readonly agent: ComposedAgent };

async function prepareResumed(context: Context, { session, chosen, agent }: ResumeParts): Promise<void> {
  const { mode } = readFlags(context);
  if (mode !== undefined) await agent.modes.change(mode, "resume");
  const from = session.state.model;
  await reportPausedTasks(context, agent.tasks, session.id);
  await reportNotices(context, session);
  if (from !== chosen.id) await session.record([session.draft("model.changed", { from, to: chosen.id, by: "resume" })], "normal");
}

import { stagingUnavailable } from "../../invocation.ts";
import type { By } from "../../model/answer.ts";
import type { Resolution } from "../../model/proposal/events.ts";
import type { ProposalPart } from "../../model/proposal/part.ts";
import { readPart } from "../../model/proposal/part.ts";
import type { ProposalRow, ProposalState } from "../../model/proposal/proposal.ts";
import { resolveText } from "../../model/proposal/resolve-texts.ts";
import { contentText } from "../../model/text/content-text.ts";
import type { QueuedAction } from "../../tool-definition.ts";
import type { DispatcherDeps, Ending } from "../dispatch.ts";
import type { CallRun, LiveCalls } from "../pipeline/call-run.ts";
import { denialEnding, errorEnding } from "../pipeline/endings.ts";
import type { Session } from "../session/session.ts";
import { applyProposal } from "./apply.ts";
import { assessEffect, sourceOf } from "./assess-resolve.ts";
import { discardProposal } from "./discard.ts";
import { bareContext, pushAction, type ResolveHandler } from "./push-action.ts";
import { recoverProposals } from "./recover.ts";
import { makeRequestListener, type RequestListener } from "./requests.ts";
import type { ResolveFallback } from "./resolve.ts";
import { describeSettling, noticeDraft, resolverOf, type Staging, stagedRows } from "./staging.ts";
import { findProposal } from "./stored.ts";
import { undoProposal } from "./undo.ts";

/** The result of settling a proposal; `state` is null if it does not exist. A part that was applied supersedes its proposal. */
export type ProposalReport = {
  readonly id: string;
  readonly state: ProposalState | null;
  readonly ok: boolean;
  readonly type: string;
  readonly text: string;
  /** The proposal that a chosen part became; undo this one. */
  readonly appliedAs?: string;
};

/** Settles a session's proposals for people and hosts. */
export type Proposals = {
  readonly list: () => readonly ProposalRow[];
  /** A deny also applies to people; an ask counts as answered. */
  readonly apply: (id: string, by: By, reason?: string, part?: ProposalPart) => Promise<ProposalReport>;
  readonly discard: (id: string, by: By, reason?: string) => Promise<ProposalReport>;
  readonly undo: (id: string, by: By, reason?: string) => Promise<ProposalReport>;
  /** What `resolve` does when nothing is pending; null ends calls that wait for it. */
  readonly setResolveFallback: (handler: ResolveFallback | null) => void;
  /** Call it when the fallback's question has changed. */
  readonly askAgain: () => void;
  /** Stages an action of this process. Throws `ToolError`. */
  readonly queueResolveHandler: (handler: ResolveHandler) => QueuedAction;
};

export type ProposalDesk = Proposals & {
  /** Recovers proposals and handles requests made since; runs once. */
  readonly begin: () => Promise<void>;
  /** Finishes requests in progress, and cancels those that take too long. */
  readonly close: () => Promise<void>;
};

export function makeProposals(staging: Staging, deps: DispatcherDeps, live: LiveCalls): ProposalDesk {
  const closing = new AbortController();
  const person: Person = { staging, deps, signal: closing.signal };
  const listener = makeRequestListener(staging, async ({ action, proposal, by, reason, again, part }) =>
    ACTIONS[action](person, proposal, {
      by,
      reason: reason ?? "",
      again,
      ...(part && { part: await staging.session.ledger.resolve(part) }),
    }),
  );
  staging.listen = listener.listen;
  let begun: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    begun ??= staging.changes ? recoverProposals(staging).then(listener.catchUp) : Promise.resolve();
    return begun;
  };
  const settle = async (id: string, act: () => Promise<Ending>): Promise<ProposalReport> => {
    const ending = await listener.runWhileOpen(id, () => begin().then(act));
    return await reportSettling(staging, id, ending);
  };
  const close = async (): Promise<void> => {
    const stopTimer = deps.clock.timer(CLOSE_GRACE_MS, () => closing.abort(), { keepsAlive: true });
    await listener.close();
    stopTimer();
  };
  const desk: ProposalDesk = {
    list: () => stagedRows(staging),
    apply: (id, by, reason = "", part = undefined) => settle(id, () => ACTIONS.apply(person, id, { by, reason, part })),
    discard: (id, by, reason = "") => settle(id, () => ACTIONS.discard(person, id, { by, reason })),
    undo: (id, by, reason = "") => settle(id, () => requestUndo(staging, id, { by, reason, listener })),
    setResolveFallback: (handler) => {
      staging.fallback = handler;
      for (const run of fallbackRuns(live)) judgeAgain(run);
    },
    askAgain: () => {
      for (const run of fallbackRuns(live)) {
        run.target = undefined;
        judgeAgain(run);
      }
    },
    queueResolveHandler: (handler) => pushAction(staging, handler),
    begin,
    close,
  };
  DESKS.set(staging.session, desk);
  staging.session.onClose(async () => {
    DESKS.delete(staging.session); // a weak map keeps its value until the next full garbage collection
    await close();
  });
  return desk;
}

/** What a person settles has this long to finish before a close cancels it. */
const CLOSE_GRACE_MS = 5_000;

function fallbackRuns(live: LiveCalls): readonly CallRun[] {
  return [...live].filter(({ target, phase }) => phase === "before" && target?.target.kind === "fallback");
}

function judgeAgain(run: CallRun): void {
  run.askAgain = true;
  run.wake?.();
}

type UndoRequest = { readonly by: By; readonly reason: string; readonly listener: RequestListener };

/** Records the request before the first file changes, so that recovery finds it after a crash. */
async function requestUndo(staging: Staging, id: string, { by, reason, listener }: UndoRequest): Promise<Ending> {
  const { session } = staging;
  const row = await findProposal(session, id);
  if (row?.session !== session.id || row.state !== "applied" || row.files === 0) return await undoProposal(staging, id, { by, reason });
  return await listener.request({
    proposal: id,
    session: session.id,
    action: "undo",
    digest: row.digest,
    reason: reason === "" ? null : reason,
    by,
  });
}

type Person = { readonly staging: Staging; readonly deps: DispatcherDeps; readonly signal: AbortSignal };
type PersonWords = {
  readonly by: By;
  readonly reason: string;
  readonly again?: boolean;
  readonly part?: ProposalPart | undefined;
};
type ProposalAct = (person: Person, id: string, words: PersonWords) => Promise<Ending>;

const DONE = { apply: "applied", discard: "discarded", undo: "undone" } as const;

const ACTIONS: Readonly<Record<keyof typeof DONE, ProposalAct>> = {
  apply: async (person, id, words) => {
    const refused = await refuseApply(person, id, words.part);
    return refused ?? (await settleForPerson(person, id, { ...words, action: "apply" }));
  },
  discard: (person, id, words) => settleForPerson(person, id, { ...words, action: "discard" }),
  undo: ({ staging }, id, { by, reason, again = false }) => undoProposal(staging, id, { by, reason, again }),
};

/** A deny applies to people too. If only the model resolves, a person can only discard. */
async function refuseApply({ staging, deps }: Person, id: string, part: ProposalPart | undefined): Promise<Ending | undefined> {
  const problem = part && readPart(part);
  if (typeof problem === "string") return errorEnding("failed", "invalid_part", `The part cannot be read: ${problem}.`);
  const row = staging.session.state.proposals.get(id);
  if (row?.state !== "staged") return undefined;
  if (resolverOf(staging.policy()) === "model") return errorEnding("failed", "not_allowed", resolveText.resolverIsModel(row));
  if (part && (row.carrier === "closure" || row.files === 0)) return errorEnding("failed", "invalid_part", resolveText.noParts(row));
  const source = await sourceOf(staging, row, part);
  if (!source) return undefined;
  const { facts, digest, clock } = deps;
  const assessed = await assessEffect({ cwd: row.cwd, facts, policy: staging.policy, digest, clock }, row, source);
  return assessed.decision.verdict === "deny" ? denialEnding(assessed, false) : undefined;
}

/** Tells the model, which may still expect the proposal to be pending. */
async function settleForPerson(
  { staging, signal }: Person,
  id: string,
  words: PersonWords & { readonly action: Resolution["action"] },
): Promise<Ending> {
  const { session, clock } = staging;
  const { action, by: who, reason, part } = words;
  const before = session.state.proposals.get(id);
  const resolution: Resolution = { action, by: "person", who, reason, at: new Date(clock.now()).toISOString() };
  const settling = { resolution, signal, part, ctx: bareContext(staging, { callId: before?.callId ?? "", signal }) };
  const ending = await (action === "apply" ? applyProposal(staging, id, settling) : discardProposal(staging, id, settling));
  if (before && !session.state.proposals.has(id)) {
    const did = ending.state === "succeeded" ? `A person ${DONE[action]}${part ? " a part of" : ""}` : "A person tried to apply";
    const text = `${describeSettling(did, before, reason)} Result: ${contentText(ending.result.content)}`;
    await session.record([noticeDraft(staging, text)], "normal");
  }
  return ending;
}

async function reportSettling({ session }: Staging, id: string, ending: Ending): Promise<ProposalReport> {
  const row = session.state.proposals.get(id) ?? (await findProposal(session, id));
  return {
    id,
    state: row?.session === session.id ? row.state : null,
    ok: ending.state === "succeeded",
    type: ending.type ?? ending.state,
    text: contentText(ending.result.content),
    ...(ending.type === "applied" && row?.supersededBy && { appliedAs: row.supersededBy }),
  };
}

const DESKS: WeakMap<Session, Proposals> = new WeakMap();

/** Stages an action in a session with a dispatcher; rejects with `ToolError`. */
export async function queueResolveHandler(session: Session, handler: ResolveHandler): Promise<{ readonly id: string }> {
  const desk = DESKS.get(session);
  const { id, staged } = desk ? desk.queueResolveHandler(handler) : stagingUnavailable();
  await staged;
  return { id };
}

import { type By, type JsonObject, type Ledger, type Lists, parseEvent, readCallRecord, readRow } from "@assent/core";
import { createSystemClock } from "@assent/host";
import { type AnswerResult, type InboxCard, type InboxDesk, MOST_SESSIONS, type SessionLine } from "@assent/inbox";
import type { Context } from "../command-line/spec.ts";
import { createRedactions, type Redaction } from "../compose/redaction.ts";
import { waitingKind } from "../desk/approvals/waiting-list.ts";
import { endWords, requestCancel } from "../desk/sessions/cancel.ts";
import { exportedEvents } from "../desk/sessions/export.ts";
import { createTranscript } from "../desk/sessions/export-markdown.ts";
import { agentTotals } from "../desk/sessions/list.ts";
import { whenText } from "../io/who.ts";
import type { Store } from "../store/store.ts";
import { isWorkerSession } from "../worker/registered-workers.ts";
import { type AnswerParts, answerApprovalCard, answerQuestionCard, reportRefusal, settleCard } from "./answer.ts";
import { approvalCard, type CardPorts, proposalCard, questionCard } from "./card.ts";
import { agentName, createSessionViews, createWaitingList, NAMES, sessionTitle } from "./rows.ts";
import { sessionTimeline } from "./timeline.ts";

export type InboxDeskParts = {
  readonly context: Context;
  readonly store: Store;
  readonly by: By;
};

/** Creates the desk of the page over the ledger. Every text that leaves it is redacted, except a revealed input. */
export function createInboxDesk({ context, store, by }: InboxDeskParts): InboxDesk {
  const { ledger } = store;
  const redactionOf = createRedactions(context.io, NAMES);
  const viewOf = createSessionViews(ledger);
  const redactionOfSession = async (id: string): Promise<Redaction> => redactionOf((await viewOf(id)).cwd || context.io.cwd);
  const answering: AnswerParts = { context, store, by };
  const shownCard = async <K extends "approvals" | "questions" | "proposals">(
    kind: K,
    id: string,
    read: (ports: CardPorts, row: Lists[K]) => Promise<InboxCard>,
  ): Promise<InboxCard | undefined> => {
    const row = await readRow(ledger, kind, id);
    if (!row) return undefined;
    const redaction = await redactionOfSession(row.session);
    return redaction.value(await read({ ledger, viewOf, redaction }, row));
  };
  const actOn = <K extends keyof Lists>(kind: K, id: string, act: (row: Lists[K]) => Promise<AnswerResult>): Promise<AnswerResult> =>
    reportRefusal(id, async () => {
      const row = await readRow(ledger, kind, id);
      return row ? await act(row) : { id, result: "refused", message: `There is no ${id}.` };
    });
  return {
    waiting: createWaitingList(ledger, viewOf, redactionOf),
    card: async (id) => {
      const kind = waitingKind(id);
      if (kind === "approvals") return await shownCard(kind, id, approvalCard);
      if (kind === "questions") return await shownCard(kind, id, questionCard);
      return await shownCard(kind, id, proposalCard);
    },
    reveal: async (id) => {
      const row = waitingKind(id) === "approvals" ? await readRow(ledger, "approvals", id) : undefined;
      const { "call.judged": judged } = row ? await readCallRecord(ledger, row.session, row.call) : {};
      return judged && ((await ledger.resolve(judged.input)) as JsonObject); // resolving keeps the shape
    },
    answer: (given) => {
      const { id } = given;
      const kind = waitingKind(id);
      if (kind === "questions") return actOn(kind, id, (row) => answerQuestionCard(answering, row, given));
      if (kind === "proposals")
        return actOn(kind, id, (row) => settleCard(answering, row, given.outcome === "approve" ? "apply" : "discard", given));
      return actOn(kind, id, async (row) => {
        const redaction = await redactionOfSession(row.session);
        const { offers } = given.remember ? await approvalCard({ ledger, viewOf, redaction }, row) : { offers: [] };
        const shown = offers.map((offer) => [redaction.value(offer), offer] as const);
        return await answerApprovalCard(answering, row, given, shown);
      });
    },
    sessions: async () => (await sessionLines(ledger)).map((line) => redactionOf(line.directory).value(line)),
    timeline: async (id, last) => {
      const row = await readRow(ledger, "sessions", id);
      if (!row) return undefined;
      const { value: redact } = redactionOf(row.cwd);
      return redact(await sessionTimeline({ ledger, redact, last }, row));
    },
    export: async (id) => {
      const row = await readRow(ledger, "sessions", id);
      return row && redactionOf(row.cwd).value(await exportMarkdown(ledger, id));
    },
    undo: (id) => actOn("proposals", id, (row) => settleCard(answering, row, "undo", undefined)),
    cancel: (id, target) =>
      actOn("sessions", id, async (session) => {
        const clock = context.overrides.clock ?? createSystemClock();
        const end = await requestCancel({ ledger, clock, by, reason: null }, { session, target });
        const what = target === null ? id : "call" in target ? target.call : target.task;
        return { id: what, result: end.state === "cancelled" ? "saved" : "refused", message: `${what}: ${endWords(end)}.` };
      }),
    grants: async () => {
      const rows = await ledger.pending("grants", { limit: MOST });
      const lines = rows.map(({ id, scope, rule, madeAt: since, madeBy, expiresAt = null }) => ({
        id,
        scope,
        rule,
        since,
        by: madeBy,
        expiresAt,
      }));
      return redactionOf(context.io.cwd).value(lines);
    },
    revoke: (id) =>
      actOn("grants", id, async () => {
        const at = new Date((context.overrides.clock ?? createSystemClock()).now()).toISOString();
        await ledger.answer([{ type: "grant.revoked", v: 1, at, body: { grant: id, by: by.user } }]);
        return { id, result: "saved", message: `${id} is revoked.` };
      }),
    follow: (changed, failed) => followRecord(ledger, changed, failed),
  };
}

const MOST = 1_000;

async function sessionLines(ledger: Ledger): Promise<readonly SessionLine[]> {
  const totals = await agentTotals(ledger);
  const rows = await ledger.pending("sessions", { all: true, newestFirst: true, limit: MOST_SESSIONS });
  return rows
    .filter(({ id, parent }) => !parent && !isWorkerSession(id))
    .map((row) => ({
      ...{ id: row.id, title: sessionTitle(row), agent: agentName(row), directory: row.cwd, state: row.state },
      ...{ updatedAt: whenText(row.updatedAt), waiting: totals(row).open },
    }));
}

async function exportMarkdown(ledger: Ledger, session: string): Promise<string> {
  const { take, end } = createTranscript();
  let text = "";
  for await (const stored of exportedEvents(ledger, session)) {
    const event = parseEvent(stored);
    if (event) text += take(event);
  }
  return text + end();
}

/** Calls `changed` with the newest position, once soon and after each commit, or `failed` once if nothing more can be read. */
export function followRecord(ledger: Ledger, changed: (position: number) => void, failed: (error: unknown) => void): { close(): void } {
  let isClosed = false;
  let close = (): void => undefined;
  const follow = (head: number): void => {
    if (isClosed) return;
    changed(head);
    let pending = false;
    let newest = head;
    const { close: end } = ledger.subscribe(
      { pos: head },
      {},
      ({ pos }) => {
        newest = pos;
        if (pending) return;
        pending = true;
        setImmediate(() => {
          pending = false;
          if (!isClosed) changed(newest);
        });
      },
      failed,
    );
    close = end;
  };
  ledger.head().then(follow).catch(failed);
  return {
    close: () => {
      isClosed = true;
      close();
    },
  };
}

import { type By, type JsonObject, type Ledger, parseEvent, readCallRecord, readRow } from "@assent/core";
import { createSystemClock } from "@assent/host";
import type { AnswerResult, InboxCard, InboxDesk, SessionLine, WaitingRow } from "@assent/inbox";
import { createLineRedactor, createValueRedactor, type Settings } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { waitingKind } from "../desk/approvals/waiting-list.ts";
import { endWords, requestCancel } from "../desk/sessions/cancel.ts";
import { exportedEvents } from "../desk/sessions/export.ts";
import { createTranscript } from "../desk/sessions/export-markdown.ts";
import { agentTotals } from "../desk/sessions/list.ts";
import { whenText } from "../io/who.ts";
import type { Store } from "../store/store.ts";
import { isWorkerSession } from "../worker/registered-workers.ts";
import { type AnswerParts, answerApprovalCard, answerQuestionCard, orRefusal, settleCard } from "./answer.ts";
import { approvalCard, proposalCard, questionCard } from "./card.ts";
import { agentName, createSessionViews, sessionTitle, waitingRows } from "./rows.ts";
import { sessionTimeline } from "./timeline.ts";

export type InboxDeskParts = {
  readonly context: Context;
  readonly store: Store;
  readonly by: By;
  readonly patterns: Settings["redaction.patterns"];
};

/** Creates the desk of the page over the ledger. Every text that leaves it is redacted, except a revealed input. */
export function createInboxDesk({ context, store, by, patterns }: InboxDeskParts): InboxDesk {
  const { ledger } = store;
  const redact = createValueRedactor(patterns, NAMES);
  const redactRows = keepRedacted(redact);
  const ports = { ledger, viewOf: createSessionViews(ledger), redactLines: createLineRedactor(patterns) };
  const answering: AnswerParts = { context, store, by };
  const rawCard = async (id: string): Promise<InboxCard | undefined> => {
    const kind = waitingKind(id);
    if (kind === "approvals") return await ifFound(await readRow(ledger, kind, id), (row) => approvalCard(ports, row));
    if (kind === "questions") return await ifFound(await readRow(ledger, kind, id), (row) => questionCard(ports, row));
    return await ifFound(await readRow(ledger, kind, id), (row) => proposalCard(ports, row));
  };
  return {
    waiting: async () => redactRows(await waitingRows(ledger, ports.viewOf)),
    card: async (id) => redact(await rawCard(id)),
    reveal: async (id) => {
      const row = waitingKind(id) === "approvals" ? await readRow(ledger, "approvals", id) : undefined;
      const { "call.judged": judged } = row ? await readCallRecord(ledger, row.session, row.call) : {};
      return judged && ((await ledger.resolve(judged.input)) as JsonObject); // resolving keeps the shape
    },
    answer: (given) =>
      orRefusal(given.id, async () => {
        const kind = waitingKind(given.id);
        if (kind === "questions")
          return await ifKnown(given.id, await readRow(ledger, kind, given.id), (row) => answerQuestionCard(answering, row, given));
        if (kind === "proposals")
          return await ifKnown(given.id, await readRow(ledger, kind, given.id), (row) =>
            settleCard(answering, row, given.outcome === "approve" ? "apply" : "discard", given),
          );
        return await ifKnown(given.id, await readRow(ledger, kind, given.id), async (row) => {
          const { offers } = given.remember ? await approvalCard(ports, row) : { offers: [] };
          const shown = offers.map((offer) => [redact(offer), offer] as const);
          return await answerApprovalCard(answering, row, given, shown);
        });
      }),
    sessions: async () => redact(await sessionLines(ledger)),
    timeline: async (id) => redact(await ifFound(await readRow(ledger, "sessions", id), (row) => sessionTimeline(ledger, row, redact))),
    export: async (id) => ((await readRow(ledger, "sessions", id)) ? redact(await exportMarkdown(ledger, id)) : undefined),
    undo: (id) =>
      orRefusal(id, async () =>
        ifKnown(id, await readRow(ledger, "proposals", id), (row) => settleCard(answering, row, "undo", undefined)),
      ),
    cancel: (id, target) =>
      orRefusal(id, async () =>
        ifKnown(id, await readRow(ledger, "sessions", id), async (session) => {
          const clock = context.overrides.clock ?? createSystemClock();
          const end = await requestCancel({ ledger, clock, by, reason: null }, { session, target });
          const what = target === null ? id : "call" in target ? target.call : target.task;
          return { id: what, result: end.state === "cancelled" ? "saved" : "refused", message: `${what}: ${endWords(end)}.` };
        }),
      ),
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
      return redact(lines);
    },
    revoke: (id) =>
      orRefusal(id, async () =>
        ifKnown(id, await readRow(ledger, "grants", id), async () => {
          const at = new Date((context.overrides.clock ?? createSystemClock()).now()).toISOString();
          await ledger.answer([{ type: "grant.revoked", v: 1, at, body: { grant: id, by: by.user } }]);
          return { id, result: "saved", message: `${id} is revoked.` };
        }),
      ),
    follow: (changed) => followRecord(ledger, changed),
  };
}

/** Redacting is most of the work for a long list, of which few rows change at a time. */
function keepRedacted(redact: (row: WaitingRow) => WaitingRow): (rows: readonly WaitingRow[]) => readonly WaitingRow[] {
  let before: ReadonlyMap<string, { readonly raw: string; readonly shown: WaitingRow }> = new Map();
  return (rows) => {
    const now = rows.map((row) => {
      const raw = JSON.stringify(row);
      const known = before.get(row.id);
      return known?.raw === raw ? known : { raw, shown: redact(row) };
    });
    before = new Map(now.map((one) => [one.shown.id, one]));
    return now.map(({ shown }) => shown);
  };
}

const MOST = 1_000;

async function ifFound<T, R>(row: T | undefined, act: (row: T) => Promise<R>): Promise<R | undefined> {
  return row === undefined ? undefined : await act(row);
}

async function ifKnown<T>(id: string, row: T | undefined, act: (row: T) => Promise<AnswerResult>): Promise<AnswerResult> {
  return row === undefined ? { id, result: "refused", message: `There is no ${id}.` } : await act(row);
}

/** Fields that name things and are no text of a model or tool. */
const NAMES: ReadonlySet<string> = new Set([
  "id",
  "kind",
  "session",
  "fingerprint",
  "state",
  "since",
  "expiresAt",
  "at",
  "undo",
  "card",
  "cancel",
  "write",
  "path",
]);

async function sessionLines(ledger: Ledger): Promise<readonly SessionLine[]> {
  const totals = await agentTotals(ledger);
  const rows = await ledger.pending("sessions", { all: true, newestFirst: true, limit: 200 });
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

/** Calls `changed` with the newest position, once soon and after each commit. */
export function followRecord(ledger: Ledger, changed: (position: number) => void): { close(): void } {
  let isClosed = false;
  let close = (): void => undefined;
  void ledger.head().then((head) => {
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
      () => undefined, // the page asks again by itself and then sees the failure
    );
    close = end;
  });
  return {
    close: () => {
      isClosed = true;
      close();
    },
  };
}

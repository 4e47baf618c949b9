import { contentText, type Ledger, type LedgerEvent, parseEvent, readSessionState, type SessionRow, type StoredEvent } from "@assent/core";
import type { CancelTarget, SessionTimeline, TimelineEntry } from "@assent/inbox";
import { approvalSubject, askReason } from "../desk/approvals/view.ts";
import { decisionSentence } from "../desk/explain/decision-text.ts";
import { questionSubject } from "../desk/questions/view.ts";
import { whenText, whoText } from "../io/who.ts";
import { messageText } from "./card.ts";
import { sessionTitle } from "./rows.ts";

const WORDS: Readonly<Partial<Record<LedgerEvent["type"], string>>> = {
  "message.user": "person",
  "message.assistant": "model",
  "call.proposed": "proposed",
  "call.judged": "decided",
  "approval.opened": "asks",
  "approval.answered": "answered",
  "question.asked": "asks",
  "question.answered": "answered",
  "call.claimed": "started",
  "call.ended": "ended",
  "proposal.staged": "change prepared",
  "proposal.applied": "change applied",
  "proposal.discarded": "change discarded",
  "proposal.undone": "change undone",
  "task.started": "task started",
  "task.ended": "task ended",
  "cancel.requested": "cancel",
  "session.closed": "session closed",
  "mode.changed": "mode",
};

const LONGEST = 4_000;

export type TimelineParts = {
  readonly ledger: Ledger;
  readonly redact: (text: string) => string;
  /** How many of the newest events are shown. */
  readonly last: number;
};

/** What happened in a session, in words. Changes and approvals are shown on their own cards. Texts are redacted before they are cut. */
export async function sessionTimeline({ ledger, redact, last }: TimelineParts, row: SessionRow): Promise<SessionTimeline> {
  const { id: session, state } = row;
  const { calls, tasks, openTurn } = await readSessionState(ledger, session);
  const isRunning = state === "running" && !row.group && (openTurn !== null || calls.size > 0 || tasks.size > 0);
  const cancelOf = (event: LedgerEvent): CancelTarget => {
    if (!isRunning) return null;
    if (event.type === "call.claimed" && calls.has(event.body.call)) return { call: event.body.call };
    return event.type === "task.started" && tasks.has(event.body.task) ? { task: event.body.task } : null;
  };
  const shown: StoredEvent[] = [];
  let earlier = 0;
  for await (const stored of ledger.read({ session, seq: 0 }, { session, naming: session, types: Object.keys(WORDS) })) {
    shown.push(stored);
    if (shown.length < 2 * last) continue;
    earlier += last;
    shown.splice(0, last);
  }
  earlier += Math.max(0, shown.length - last);
  const entries: TimelineEntry[] = [];
  const undone = new Set<string | null>();
  for (const stored of shown.slice(-last)) {
    const event = parseEvent({ ...stored, body: await ledger.resolve(stored.body) });
    if (!event) continue;
    if (event.type === "proposal.undone") undone.add(event.body.proposal);
    const { at, type, body } = event;
    const full = redact(entryText(event));
    if (full === "" && type.startsWith("message.")) continue; // it has only calls
    entries.push({
      pos: stored.pos,
      at: whenText(at),
      what: WORDS[type] ?? type,
      text: full.length > LONGEST ? `${full.slice(0, LONGEST)} …` : full,
      call: "call" in body && typeof body.call === "string" ? body.call : null,
      card: type === "approval.opened" ? event.body.approval : type === "proposal.staged" ? event.body.proposal : null,
      undo: type === "proposal.applied" ? event.body.proposal : null,
      cancel: cancelOf(event),
    });
  }
  return {
    ...{ title: sessionTitle(row), state, isRunning, earlier },
    entries: entries.map((entry) => (undone.has(entry.undo) ? { ...entry, undo: null } : entry)),
  };
}

function entryText(event: LedgerEvent): string {
  switch (event.type) {
    case "message.user":
    case "message.assistant":
      return messageText(event.body);
    case "call.proposed":
      return `${event.body.tool} ${event.body.raw}`;
    case "call.judged":
      return decisionSentence(event.body);
    case "approval.opened":
      return `${approvalSubject(event.body, Number.POSITIVE_INFINITY)}: ${askReason(event.body)}`;
    case "approval.answered":
    case "question.answered": {
      const { outcome, by, reason } = event.body;
      return `${outcome} by ${whoText(by)}${reason === null ? "" : `: ${reason}`}`;
    }
    case "question.asked":
      return questionSubject(event.body.questions, Number.POSITIVE_INFINITY);
    case "call.ended":
      return `${event.body.outcome}\n${contentText(event.body.content)}`;
    case "proposal.staged":
      return event.body.label;
    case "task.started":
      return `${event.body.agent}: ${event.body.description}`;
    case "task.ended":
      return `${event.body.status}\n${event.body.error ?? event.body.result}`;
    case "cancel.requested": {
      const { target, by, reason } = event.body;
      const what = target === null ? "all that runs" : "call" in target ? target.call : target.task;
      return `${whoText(by)} cancelled ${what}${reason === null ? "" : `: ${reason}`}`;
    }
    case "session.closed":
      return event.body.reason;
    case "mode.changed":
      return `${event.body.from} → ${event.body.to}`;
    default:
      return "";
  }
}

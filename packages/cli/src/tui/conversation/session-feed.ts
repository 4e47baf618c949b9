import { type ConversationEvent, estimateCost, getContextSize } from "@assent/agent";
import type { LedgerEvent, Session } from "@assent/core";
import type { SessionObserver } from "../../compose/front-end.ts";
import { loadWholeEvent } from "../../desk/sessions/whole-event.ts";
import type { ConversationView } from "../screen/view.ts";
import { applyConversationEvent, applyLedgerEvent } from "../transcript/transcript.ts";

export type SessionFeed = {
  /** Follows the main session; sessions of its agents only count tokens. */
  readonly attend: (root: string) => (session: Session) => SessionObserver;
  readonly attendPerson: (session: Session) => SessionObserver;
  /** Resolves when every event is on the screen. */
  readonly idle: () => Promise<void>;
};

/** Keeps the order of events, also when one has to be fetched. */
export function sessionFeed(view: ConversationView, turnStarted: () => void): SessionFeed {
  let last: Promise<unknown> = Promise.resolve();
  const push = (act: () => Promise<void> | void): void => {
    last = last.then(act).catch((error: unknown) => view.append({ type: "note", text: String(error), role: "error" }));
  };
  const hearRecord = (session: Session, hearing: { readonly byPerson?: true }): void => {
    session.listen((event) =>
      push(async () => {
        const whole = await loadWholeEvent(session, event);
        view.update((transcript) => applyLedgerEvent(transcript, whole, { pid: process.pid, live: true, ...hearing }));
      }),
    );
  };
  const hearTalk = (event: ConversationEvent): void => push(() => view.update((transcript) => applyConversationEvent(transcript, event)));
  return {
    idle: async () => void (await last),
    attendPerson: (session) => {
      hearRecord(session, { byPerson: true });
      return { decided: () => undefined, observe: hearTalk };
    },
    attend: (root) => (session) => {
      const isRoot = session.id === root;
      session.listen((event) => event.type === "message.assistant" && countTokens(view, event, isRoot));
      if (!isRoot) {
        session.listen((event) => push(() => hearAgent(view, event)));
        return { decided: () => undefined, observe: () => undefined };
      }
      session.listen((event) => (event.type === "turn.started" ? turnStarted() : showModeOrModel(view, event)));
      hearRecord(session, {});
      return { decided: () => undefined, observe: hearTalk };
    },
  };
}

function showModeOrModel(view: ConversationView, event: LedgerEvent): void {
  const { status } = view.state;
  if (event.type === "mode.changed") view.state.status = { ...status, mode: event.body.to };
  if (event.type === "model.changed") view.state.status = { ...status, model: event.body.to ?? "" };
}

/** Of an agent's session, shows only answers given elsewhere and saved rules. */
function hearAgent(view: ConversationView, event: LedgerEvent): void {
  if (event.type !== "approval.answered" || (event.body.by.pid === process.pid && !event.body.remember)) return;
  view.update((transcript) => applyLedgerEvent(transcript, event, { pid: process.pid, live: true }));
}

function countTokens(view: ConversationView, { body: { usage, model } }: LedgerEvent<"message.assistant">, isRoot: boolean): void {
  if (!usage) return;
  const { status } = view.state;
  const id = model ?? status.model;
  const cost = estimateCost(id, usage) ?? estimateCost(status.model, usage);
  const size = getContextSize(status.model) ?? getContextSize(id);
  const used = usage.inputTokens + usage.outputTokens;
  view.state.status = {
    ...status,
    tokens: status.tokens + used,
    cost: cost === undefined ? status.cost : (status.cost ?? 0) + cost,
    context: isRoot && size !== undefined ? Math.min(1, used / size) : status.context,
  };
  view.changed();
}

import { type ConversationEvent, contextSizeOf, costOf } from "@assent/agent";
import type { LedgerEvent, Session } from "@assent/core";
import type { SessionObserver } from "../../compose/front-end.ts";
import type { Stage } from "../screen/stage.ts";
import { afterRecord, afterTalk } from "../transcript/transcript.ts";

/** Tells the screen what sessions do. */
export type SessionFeed = {
  /** The conversation that the screen is about; agents it started are counted, but have no place in the transcript. */
  readonly attend: (root: string) => (session: Session) => SessionObserver;
  /** Calls of the person themselves. */
  readonly attendPerson: (session: Session) => SessionObserver;
  /** Everything that was heard is on the screen. */
  readonly idle: () => Promise<void>;
};

/** Values of these may stand beside the event. */
const LARGE: readonly LedgerEvent["type"][] = ["message.user", "call.proposed", "call.judged", "call.ended", "task.ended"];

/** In the order in which it happened: what is fetched holds up what comes after it. */
export function sessionFeed(stage: Stage, turnStarted: () => void): SessionFeed {
  let last: Promise<unknown> = Promise.resolve();
  const push = (act: () => Promise<void> | void): void => {
    last = last.then(act).catch((error: unknown) => stage.say({ type: "note", text: String(error), role: "error" }));
  };
  const hearRecord = (session: Session, hearing: { readonly byPerson?: true }): void => {
    session.listen((event) =>
      push(async () => {
        const whole = await wholeEvent(session, event);
        stage.hear((transcript) => afterRecord(transcript, whole, { pid: process.pid, live: true, ...hearing }));
      }),
    );
  };
  const hearTalk = (event: ConversationEvent): void => push(() => stage.hear((transcript) => afterTalk(transcript, event)));
  return {
    idle: async () => void (await last),
    attendPerson: (session) => {
      hearRecord(session, { byPerson: true });
      return { decided: () => undefined, observe: hearTalk };
    },
    attend: (root) => (session) => {
      const isRoot = session.id === root;
      session.listen((event) => event.type === "message.assistant" && count(stage, event, isRoot));
      if (!isRoot) {
        session.listen((event) => push(() => hearAgent(stage, event)));
        return { decided: () => undefined, observe: () => undefined };
      }
      session.listen((event) => (event.type === "turn.started" ? turnStarted() : standing(stage, event)));
      hearRecord(session, {});
      return { decided: () => undefined, observe: hearTalk };
    },
  };
}

/** The event with everything that stands beside it. */
export async function wholeEvent({ ledger }: Pick<Session, "ledger">, event: LedgerEvent): Promise<LedgerEvent> {
  if (!LARGE.includes(event.type)) return event;
  // Parsing: what the ledger gives back is what it was given.
  return { ...event, body: await ledger.resolve(event.body as never) } as LedgerEvent;
}

function standing(stage: Stage, event: LedgerEvent): void {
  const { status } = stage.shown;
  if (event.type === "mode.changed") stage.shown.status = { ...status, mode: event.body.to };
  if (event.type === "model.changed") stage.shown.status = { ...status, model: event.body.to ?? "" };
}

/** Of an agent's own session only what answered the person's cards elsewhere, and what they stored. */
function hearAgent(stage: Stage, event: LedgerEvent): void {
  if (event.type !== "approval.answered" || (event.body.by.pid === process.pid && !event.body.remember)) return;
  stage.hear((transcript) => afterRecord(transcript, event, { pid: process.pid, live: true }));
}

function count(stage: Stage, { body: { usage, model } }: LedgerEvent<"message.assistant">, isRoot: boolean): void {
  if (!usage) return;
  const { status } = stage.shown;
  const id = model ?? status.model;
  const cost = costOf(id, usage) ?? costOf(status.model, usage);
  const size = contextSizeOf(status.model) ?? contextSizeOf(id);
  const used = usage.inputTokens + usage.outputTokens;
  stage.shown.status = {
    ...status,
    tokens: status.tokens + used,
    cost: cost === undefined ? status.cost : (status.cost ?? 0) + cost,
    context: isRoot && size !== undefined ? Math.min(1, used / size) : status.context,
  };
  stage.changed();
}

import type { Approver, DispatchEvent, Session } from "@assent/core";
import type { ConversationEvent } from "../../loop/conversation-state.ts";
import { tellEvents, type WebEvent } from "./event-sequence.ts";
import { type LiveEvent, makeHearing } from "./live-event.ts";
import { readRecord } from "./record-reader.ts";

/** What one follower wants. */
export type FollowOptions = {
  /** Tells again what came after this place in the ledger: the `pos` of the last event that arrived. Absent: what comes from now on. */
  readonly after?: number;
  /** Begins when the stream is first read, and its end is the stream's; a reader that goes away aborts the signal. Absent: follows until the reader goes away. */
  readonly run?: (signal: AbortSignal) => Promise<unknown>;
};

/** A session for front ends: any number may follow it, each at its own pace. */
export type EventFeed = {
  /** For `observe` of a conversation. */
  readonly observe: (event: ConversationEvent) => void;
  /** The same for whoever has a dispatcher only. */
  readonly dispatched: (event: DispatchEvent) => void;
  /** For a dispatcher: people can be asked while somebody follows. They answer through `dispatcher.answer`, or from another process. */
  readonly approver: Approver;
  readonly follow: (options?: FollowOptions) => ReadableStream<WebEvent>;
};

/** Streams of one session. What is on record is read when it is wanted and what is only heard is joined or left out, so a slow reader holds up nobody. */
export function createEventFeed(session: Session): EventFeed {
  const following: Following = { followers: new Set(), asking: new Set() };
  const hear = (event: LiveEvent): void => {
    for (const add of following.followers) add(event);
  };
  const dispatched = (event: DispatchEvent): void => {
    if (event.type === "output") hear({ pos: null, type: "output", callId: event.callId, display: event.display });
  };
  return {
    dispatched,
    observe: (event) => {
      if (event.type === "dispatch") dispatched(event.event);
      else if (event.type === "warning") hear({ pos: null, type: "warning", code: event.code, message: event.message });
      else if (event.type === "delta") {
        const { type, delta } = event.delta;
        if (type === "text" || type === "reasoning") hear({ pos: null, type, turn: event.turn, delta });
      }
    },
    approver: { available: () => following.followers.size > 0, ask: (_approval, signal) => whileFollowed(following, signal) },
    follow: (options = {}) => follow(session, following, options),
  };
}

type Following = {
  readonly followers: Set<(event: LiveEvent) => void>;
  /** Asks that end when nobody looks any more. */
  readonly asking: Set<() => void>;
};

/** Gives no answer itself: it comes another way, or nobody is left to give it. */
function whileFollowed({ followers, asking }: Following, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!signal.aborted && followers.size > 0) return;
      asking.delete(look);
      signal.removeEventListener("abort", look);
      resolve(undefined);
    };
    asking.add(look);
    signal.addEventListener("abort", look);
    look();
  });
}

function follow(session: Session, { followers, asking }: Following, { after, run }: FollowOptions): ReadableStream<WebEvent> {
  const hearing = makeHearing();
  const record = readRecord(session, after);
  const begun = record.begin();
  begun.catch(() => undefined); // told to whoever reads
  const following = session.listen(({ pos }) => {
    record.heard(pos);
    hearing.ring();
  });
  followers.add(hearing.add);
  const leave = (): void => {
    following.close();
    followers.delete(hearing.add);
    for (const look of [...asking]) look();
  };
  const gone = new AbortController();
  const next = tellEvents({ hearing, record, gone: gone.signal, run });
  return new ReadableStream<WebEvent>(
    {
      pull: async (controller) => {
        const event = await begun.then(next).catch((error: unknown) => {
          leave();
          throw error;
        });
        if (event) controller.enqueue(event);
        else if (!gone.signal.aborted) {
          leave();
          controller.close();
        }
      },
      cancel: () => {
        gone.abort(new Error("the reader went away"));
        leave();
        hearing.ring();
      },
    },
    { highWaterMark: 0 },
  );
}

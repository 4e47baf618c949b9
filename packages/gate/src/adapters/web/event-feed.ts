import type { Approver, DispatchEvent, Session } from "@assent/core";
import { createEventSequence, type WebEvent } from "./event-sequence.ts";
import { createLiveEventQueue, type LiveEvent } from "./live-event.ts";
import { createRecordReader } from "./record-reader.ts";

/** An event of a conversation of `@assent/agent`. A feed passes on dispatch events, warnings and streamed text. */
export type FeedEvent = {
  readonly type: string;
  readonly event?: DispatchEvent;
  readonly code?: string;
  readonly message?: string;
  readonly turn?: number;
  readonly delta?: { readonly type: string; readonly delta: string };
};

/** Options of `follow`. */
export type FollowOptions = {
  /** Repeats events after this position: the `pos` of the last event that arrived. Default: only new events. */
  readonly after?: number;
  /**
   * Starts when the stream is first read. The stream ends with it, and a reader that goes away aborts the signal. Without it, the stream
   * follows until the reader goes away.
   */
  readonly run?: (signal: AbortSignal) => Promise<unknown>;
};

/** Streams a session to front ends. Any number may follow, each at its own pace. */
export type EventFeed = {
  /** Pass this as `observe` of a conversation. */
  readonly observe: (event: FeedEvent) => void;
  /** The same for programs that only have a dispatcher. */
  readonly dispatched: (event: DispatchEvent) => void;
  /**
   * Pass this to a dispatcher: people can be asked while a front end follows. They answer through `dispatcher.answer`, or from another
   * process.
   */
  readonly approver: Approver;
  readonly follow: (options?: FollowOptions) => ReadableStream<WebEvent>;
};

/**
 * Creates the event feed of a session. A slow reader blocks nothing: recorded events are read on demand, and live events are merged or
 * dropped.
 */
export function createEventFeed(session: Session): EventFeed {
  const following: Followers = { followers: new Set(), asking: new Set() };
  const hear = (event: LiveEvent): void => {
    for (const add of following.followers) add(event);
  };
  const dispatched = (event: DispatchEvent): void => {
    if (event.type === "output") hear({ pos: null, type: "output", callId: event.callId, display: event.display });
  };
  return {
    dispatched,
    observe: ({ type, event, code, message, turn, delta }) => {
      if (type === "dispatch" && event) dispatched(event);
      else if (type === "warning" && code !== undefined && message !== undefined) hear({ pos: null, type, code, message });
      else if (type === "delta" && turn !== undefined && (delta?.type === "text" || delta?.type === "reasoning"))
        hear({ pos: null, type: delta.type, turn, delta: delta.delta });
    },
    approver: { available: () => following.followers.size > 0, ask: (_approval, signal) => whileFollowed(following, signal) },
    follow: (options = {}) => follow(session, following, options),
  };
}

type Followers = {
  readonly followers: Set<(event: LiveEvent) => void>;
  /** Pending asks; they end when the last follower leaves. */
  readonly asking: Set<() => void>;
};

/** Waits without answering, because the answer comes another way. Resolves when the last follower leaves. */
function whileFollowed({ followers, asking }: Followers, signal: AbortSignal): Promise<undefined> {
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

function follow(session: Session, { followers, asking }: Followers, { after, run }: FollowOptions): ReadableStream<WebEvent> {
  const hearing = createLiveEventQueue();
  const record = createRecordReader(session, after);
  const begun = record.begin();
  begun.catch(() => undefined); // the reader gets the error
  const following = session.listen(({ pos }) => {
    record.noteWritten(pos);
    hearing.notify();
  });
  followers.add(hearing.add);
  const leave = (): void => {
    following.close();
    followers.delete(hearing.add);
    for (const look of [...asking]) look();
  };
  const gone = new AbortController();
  const next = createEventSequence({ live: hearing, record, gone: gone.signal, run });
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
        hearing.notify();
      },
    },
    { highWaterMark: 0 },
  );
}

import type { CallContext } from "@assent/core";

/** The number of redirects before a fetch, and the URL of the last one. */
export type Hop = { readonly count: number; readonly from: string | undefined };

/** Tracks running fetches, so that a redirected fetch knows the length of its chain. */
export type RedirectChains = {
  readonly hopOf: (call: Pick<CallContext, "sessionId" | "callId">) => Hop;
  /** Until the returned function is called, calls nested in this one count as redirects from this URL. */
  readonly begin: (call: Pick<CallContext, "sessionId" | "callId">, url: string) => () => void;
};

/** The id of a nested call starts with the id of its parent. */
export function redirectChains(): RedirectChains {
  const running = new Map<string, { readonly count: number; readonly url: string }>();
  const hopOf: RedirectChains["hopOf"] = ({ sessionId, callId }) => {
    const parent = running.get(keyOf(sessionId, callId.slice(0, Math.max(0, callId.lastIndexOf("/")))));
    return parent ? { count: parent.count + 1, from: parent.url } : { count: 0, from: undefined };
  };
  return {
    hopOf,
    begin: (call, url) => {
      const key = keyOf(call.sessionId, call.callId);
      running.set(key, { count: hopOf(call).count, url });
      return () => void running.delete(key);
    },
  };
}

function keyOf(sessionId: string, callId: string): string {
  return `${sessionId}\n${callId}`;
}

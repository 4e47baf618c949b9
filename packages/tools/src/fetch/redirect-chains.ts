import type { CallContext } from "@assent/core";

/** Where a fetch stands in a chain of redirects: how many led to it, and from where the last one came. */
export type Hop = { readonly count: number; readonly from: string | undefined };

/** The fetches that are running, so that one that a redirect leads to knows how long its chain is. */
export type RedirectChains = {
  /** What led to this call. */
  readonly hopOf: (call: Pick<CallContext, "sessionId" | "callId">) => Hop;
  /** Until the returned function is called, calls nested in this one are redirects from this URL. */
  readonly begin: (call: Pick<CallContext, "sessionId" | "callId">, url: string) => () => void;
};

/** Follows chains by the ids of nested calls, which begin with that of the call they are nested in. */
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

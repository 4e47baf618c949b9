import { randomUUID } from "node:crypto";
import type { JsonObject } from "@assent/core";
import type { WireMessage } from "../stream/message.ts";
import type { HostReply } from "./line.ts";

/** The result of a request to the host. `gone`: the host left; `withdrawn`: it is no longer asked. */
export type HostResult = HostReply | { readonly none: "gone" | "withdrawn" };

export type HostLink = {
  /** Sends a request; aborting the signal withdraws it. For a reserved `id` the reply may have arrived already. */
  readonly request: (fields: HostRequest, signal: AbortSignal, id?: string) => Promise<HostResult>;
  /** Reserves an id for a request that is announced before it is sent. */
  readonly reserve: () => string;
  readonly release: (id: string) => void;
  readonly reply: (id: string, reply: HostReply) => boolean;
  /** True while a reply to a reserved id waits for its request. It counts even after the host left. */
  readonly hasReplies: () => boolean;
  readonly wasOpen: (id: string) => boolean;
  readonly open: () => readonly WireMessage[];
  readonly leave: () => void;
};

export type HostRequest = { readonly subtype: string } & JsonObject;

export function hostLink(write: (message: WireMessage) => void): HostLink {
  const open = new Map<string, { readonly message: WireMessage; readonly settle: (replied: HostResult) => void }>();
  const reserved = new Map<string, HostReply | undefined>();
  const past = recentIds();
  let left = false;
  const close = (id: string, replied: HostResult): boolean => {
    const request = open.get(id);
    if (!request) return false;
    open.delete(id);
    past.add(id);
    request.settle(replied);
    return true;
  };
  const ask = (message: WireMessage, id: string, signal: AbortSignal): Promise<HostResult> =>
    new Promise((resolve) => {
      const withdraw = (): void => {
        if (close(id, { none: "withdrawn" })) write({ type: "control_cancel_request", request_id: id });
      };
      const settle = (replied: HostResult): void => {
        signal.removeEventListener("abort", withdraw);
        resolve(replied);
      };
      open.set(id, { message, settle });
      signal.addEventListener("abort", withdraw, { once: true });
      write(message);
    });
  return {
    request: async (fields, signal, id = requestId()) => {
      if (signal.aborted) return { none: "withdrawn" };
      const early = reserved.get(id);
      reserved.delete(id);
      if (early) past.add(id);
      if (left) return early ?? { none: "gone" };
      return early ?? (await ask({ type: "control_request", request_id: id, request: fields }, id, signal));
    },
    reserve: () => {
      const id = requestId();
      reserved.set(id, undefined);
      return id;
    },
    release: (id) => {
      if (!reserved.delete(id)) return;
      past.add(id);
      write({ type: "control_cancel_request", request_id: id });
    },
    reply: (id, reply) => {
      if (reserved.has(id)) reserved.set(id, reply);
      return reserved.has(id) || close(id, reply);
    },
    hasReplies: () => [...reserved.values()].some((reply) => reply !== undefined),
    wasOpen: past.has,
    open: () => [...open.values()].map(({ message }) => message),
    leave: () => {
      left = true;
      for (const id of [...open.keys()]) close(id, { none: "gone" });
    },
  };
}

const MOST_REMEMBERED = 1_000;

function recentIds(): { readonly add: (id: string) => void; readonly has: (id: string) => boolean } {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    add: (id) => {
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > MOST_REMEMBERED && oldest !== undefined) ids.delete(oldest);
    },
  };
}

function requestId(): string {
  return `assent-${randomUUID()}`;
}

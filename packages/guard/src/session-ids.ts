import type { Digest, Ids } from "@assent/core";

const GROUP_CHARS = 12;
const INPUT_CHARS = 12;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * Every outside call is a session of its own. Its id starts with its agent's session and its input, so that lists find the calls of a
 * session, and a repeated call, by a prefix of the id.
 */
export type CallKey = { readonly group: string; readonly call: string };

/** The prefixes of the ids of a session's calls, and of calls with the same tool and input. Not the directory: a command may change it. */
export function callKey(digest: Digest, group: { readonly client: string; readonly id: string }, call: object): CallKey {
  const ofGroup = `s_${shorten(digest, JSON.stringify([group.client, group.id]), GROUP_CHARS)}`;
  return { group: ofGroup, call: `${ofGroup}${shorten(digest, JSON.stringify(call), INPUT_CHARS)}` };
}

/** Ids whose first session has the given prefix. */
export function idsWithPrefix(ids: Ids, prefix: string): Ids {
  return { next: (kind) => (kind === "s_" ? `${prefix}${ids.next("").slice(0, 12)}` : ids.next(kind)) };
}

function shorten(digest: Digest, text: string, chars: number): string {
  const hex = digest.sha256(text);
  return Array.from({ length: chars }, (_, at) => ALPHABET[Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16) % 32]).join("");
}

import { hash } from "node:crypto";

/** `prev` of a chain's first event. */
export const NO_HASH: string = "0".repeat(64);

/** What an event's hash covers; `body` is canonical JSON already. */
export type HashedEvent = {
  readonly store: string;
  readonly session: string;
  readonly seq: number;
  readonly epoch: number;
  readonly at: string;
  readonly type: string;
  readonly v: number;
  readonly body: string;
  readonly prev: string;
};

/** The hash of an event: over canonical JSON, whose keys stand here in their order. */
export function chainHash({ store, session, seq, epoch, at, type, v, body, prev }: HashedEvent): string {
  const names = `"seq":${seq},"session":${quote(session)},"store":${quote(store)},"type":${quote(type)}`;
  return sha256(`{"at":${quote(at)},"body":${body},"epoch":${epoch},"prev":${quote(prev)},${names},"v":${v}}`);
}

const PLAIN = /^[\w.:-]*$/;

function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Lower-case hex SHA-256 of a text's UTF-8 bytes. */
export function sha256(text: string | Uint8Array): string {
  return hash("sha256", text, "hex");
}

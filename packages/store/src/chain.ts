import { hash } from "node:crypto";

/** `prev` of a chain's first event. */
export const NO_HASH: string = "0".repeat(64);

/** What an event's hash covers; `body` is canonical JSON already. */
export type Link = {
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
export function chainHash({ store, session, seq, epoch, at, type, v, body, prev }: Link): string {
  const names = `"seq":${seq},"session":${JSON.stringify(session)},"store":${JSON.stringify(store)},"type":${JSON.stringify(type)}`;
  return sha256(`{"at":${JSON.stringify(at)},"body":${body},"epoch":${epoch},"prev":${JSON.stringify(prev)},${names},"v":${v}}`);
}

/** Lower-case hex SHA-256 of a text's UTF-8 bytes. */
export function sha256(text: string | Uint8Array): string {
  return hash("sha256", text, "hex");
}

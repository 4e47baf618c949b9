import { hash } from "node:crypto";

export const NO_HASH: string = "0".repeat(64);

/** `body` is canonical JSON. */
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

/** The keys below are in canonical order. */
export function chainHash({ store, session, seq, epoch, at, type, v, body, prev }: HashedEvent): string {
  const names = `"seq":${seq},"session":${quote(session)},"store":${quote(store)},"type":${quote(type)}`;
  return sha256(`{"at":${quote(at)},"body":${body},"epoch":${epoch},"prev":${quote(prev)},${names},"v":${v}}`);
}

const PLAIN = /^[\w.:-]*$/;

function quote(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

export function sha256(text: string | Uint8Array): string {
  return hash("sha256", text, "hex");
}

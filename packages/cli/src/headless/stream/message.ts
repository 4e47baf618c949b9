import { randomUUID } from "node:crypto";
import { jsonLine } from "../../io/output.ts";

export type WireMessage = { readonly type: string } & Readonly<Record<string, unknown>>;

export type WireOrigin = {
  readonly session: string;
  /** The agent's own session, if any. */
  readonly agentSession?: string;
  readonly parent: string | null;
};

/** Adds the fields that every message has. `seq` is the ledger event it shows, if any. */
export function wireMessage({ session, agentSession, parent }: WireOrigin, fields: WireMessage, seq?: number): WireMessage {
  const { type, subtype, ...rest } = fields;
  return {
    type,
    ...(subtype !== undefined && { subtype }),
    uuid: randomUUID(),
    session_id: session,
    ...(agentSession !== undefined && { agent_session: agentSession }),
    ...(seq !== undefined && { seq }),
    parent_tool_use_id: parent,
    ...rest,
  };
}

const LONE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** A message as a line that every reader can decode. */
export function wireLine(message: unknown): string {
  const line = jsonLine(message);
  return line.includes("\\ud") ? line.replace(LONE, "$1\ufffd") : line;
}

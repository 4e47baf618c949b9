import { randomUUID } from "node:crypto";
import { jsonLine } from "../../io/output.ts";

/** One message of a stream: an object with a type. */
export type WireMessage = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Whose messages these are. */
export type WireOrigin = {
  /** The main session. */
  readonly session: string;
  /** The agent's own session, where it is an agent's. */
  readonly agentSession?: string;
  /** The call that started the agent. */
  readonly parent: string | null;
};

/** A message with what every message has. Without `seq` it shows nothing of the ledger. */
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

/** Escapes of halves of surrogate pairs; JSON writes no others of these. */
const LONE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** A message as its line: nothing in it can end the line, and every reader can decode it. */
export function wireLine(message: unknown): string {
  const line = jsonLine(message);
  return line.includes("\\ud") ? line.replace(LONE, "$1\ufffd") : line;
}

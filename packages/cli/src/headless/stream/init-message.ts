import type { JsonObject } from "@assent/core";
import { VERSION } from "../../version.ts";
import { type WireMessage, wireMessage } from "./message.ts";

export const PROTOCOL = 1;

export type InitFacts = {
  readonly session: string;
  readonly seq: number;
  readonly cwd: string;
  readonly model: string;
  readonly mode: string;
  readonly onAsk: string;
  readonly tools: readonly string[];
  readonly agents: readonly string[];
  readonly resumed: boolean;
  readonly pending: readonly JsonObject[];
  readonly servers: readonly JsonObject[];
};

export function initMessage({ session, seq, cwd, model, mode, onAsk, tools, agents, resumed, pending, servers }: InitFacts): WireMessage {
  const fields = {
    type: "system",
    subtype: "init",
    cwd,
    model,
    permission_mode: mode,
    permissionMode: mode,
    on_ask: onAsk,
    tools,
    agents,
    version: VERSION,
    protocol: PROTOCOL,
    resumed,
    pending_approvals: pending,
    mcp_servers: servers,
    slash_commands: [],
  };
  return wireMessage({ session, parent: null }, fields, seq);
}

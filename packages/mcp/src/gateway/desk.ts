import type { ToolResult } from "@assent/core";
import type { ClientInFront } from "../connect/connect.ts";
import type { McpServerSet } from "../servers/servers.ts";

/** The client of a connection, in its own words. */
export type ConnectedClient = {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly capabilities: ClientInFront["capabilities"];
  /** In the protocol of 2026-07-28, a server cannot ask a client; it answers that it needs input, and the client calls again. */
  readonly era: "legacy" | "modern";
};

/** The answer of a person at a client. Undefined: the person did not decide. */
export type ClientAnswer = "approve" | "reject" | undefined;

/** A request of a client that Assent decides about. */
export type GatewayCall = {
  /** The tool's name for rules. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Aborts if the client cancels the request, or is gone. */
  readonly signal: AbortSignal;
  /** Aborts if the connection that waits for the result is lost. Over HTTP, that does not cancel what runs, but nothing may start. */
  readonly lost?: AbortSignal;
  /** Called with the id of the call before its effect. */
  readonly started: (callId: string) => void;
  /** Shows a question at the client; absent if that is not possible while the request is open. */
  readonly ask?: (question: string, signal: AbortSignal) => Promise<ClientAnswer>;
  /** The client can be asked by an answer that needs input. */
  readonly canAskBetween: boolean;
  /** The client called again with this answer to an earlier question. */
  readonly answer?: { readonly approval: string; readonly given: ClientAnswer };
};

/** How a request ends. */
export type GatewayEnd =
  | { readonly state: "ended"; readonly callId: string; readonly result: ToolResult }
  /** With a question, the client is to ask its person and call again. */
  | { readonly state: "waiting"; readonly approval: string; readonly text: string; readonly question?: string }
  /** What the client sent as an answer does not fit. */
  | { readonly state: "refused"; readonly text: string };

/** One client, its servers, and the desk that decides about its calls. */
export type GatewayConnection = {
  readonly servers: McpServerSet;
  readonly call: (call: GatewayCall) => Promise<GatewayEnd>;
  /** Ends the servers. Calls that wait for approval stay open. */
  readonly close: () => Promise<void>;
};

/** Opens the connection of a client, with its servers started. */
export type OpenConnection = (client: ConnectedClient, inFront: ClientInFront) => Promise<GatewayConnection>;

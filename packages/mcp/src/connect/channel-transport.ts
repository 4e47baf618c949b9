import type { JsonObject } from "@assent/core";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

/** The way to a server inside the program that drives Assent. */
export type ServerChannel = {
  /** Sends a message of MCP. Resolves with the answer if it is a request. Rejects with why there is none. */
  readonly send: (message: JsonObject, signal: AbortSignal) => Promise<JsonObject | undefined>;
  /** Calls `listener` with what the server sends by itself. */
  readonly listen: (listener: (message: JsonObject) => void) => void;
};

/** MCP over a channel that answers each message on its own. */
export class ChannelTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #channel: ServerChannel;
  readonly #ending = new AbortController();
  /** Why a message had no answer. */
  lastFailure: unknown;

  constructor(channel: ServerChannel) {
    this.#channel = channel;
  }

  async start(): Promise<void> {
    this.#channel.listen((message) => this.#receive(message));
  }

  /** Resolves at once, because the answer may take as long as a call. */
  async send(message: JSONRPCMessage): Promise<void> {
    const sent = message as unknown as JsonObject; // both are JSON
    this.#channel.send(sent, this.#ending.signal).then(
      (answer) => {
        if (answer && "method" in message && "id" in message)
          this.#receive({ ...answer, jsonrpc: "2.0", id: message.id as string | number });
      },
      (error: unknown) => this.#fail(message, error),
    );
  }

  async close(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    this.onclose?.();
  }

  #receive(message: JsonObject): void {
    if (!this.#ending.signal.aborted) this.onmessage?.(message as unknown as JSONRPCMessage); // the SDK checks what it receives
  }

  #fail(message: JSONRPCMessage, error: unknown): void {
    this.lastFailure = error;
    const text = error instanceof Error ? error.message : String(error);
    if ("id" in message && "method" in message)
      this.#receive({ jsonrpc: "2.0", id: message.id as string | number, error: { code: -32_000, message: text } });
  }
}

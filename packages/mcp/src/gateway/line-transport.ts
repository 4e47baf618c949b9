import { messageOf } from "@assent/core";
import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from "@modelcontextprotocol/server";

/** The longest message that a client may send, in bytes. */
const LONGEST_MESSAGE = 64 * 1024 * 1024;
const NEWLINE = 10;

/** Where messages come from and go to. */
export type Pipes = { readonly input: AsyncIterable<Uint8Array>; readonly write: (text: string) => Promise<void> };

/** MCP messages as lines. What is not a message gets an error; the end of the input closes the connection. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Sees every message before it is handled. */
  readonly #seen: (message: JSONRPCMessage) => void;
  readonly #pipes: Pipes;
  #closed = false;
  /** Resolves when the messages up to now were taken by the client, or it is gone. */
  written: Promise<void> = Promise.resolve();

  constructor(pipes: Pipes, seen: (message: JSONRPCMessage) => void) {
    this.#pipes = pipes;
    this.#seen = seen;
  }

  async start(): Promise<void> {
    void this.#read().then(() => this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return;
    const write = this.#pipes.write(serializeMessage(message));
    this.written = write.catch(() => undefined);
    try {
      await write;
    } catch (error) {
      await this.close(); // the client is gone
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.();
  }

  async #read(): Promise<void> {
    let pieces: Uint8Array[] = [];
    let length = 0;
    try {
      for await (const chunk of this.#pipes.input) {
        if (this.#closed) return;
        let from = 0;
        for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
          pieces.push(chunk.subarray(from, end));
          const line = Buffer.concat(pieces).toString("utf8").trim();
          pieces = [];
          length = 0;
          from = end + 1;
          if (line !== "") await this.#take(line);
        }
        if (from === chunk.length) continue;
        pieces.push(Uint8Array.from(chunk.subarray(from)));
        length += chunk.length - from;
        if (length > LONGEST_MESSAGE) {
          await this.#refuse(-32600, `A message may have at most ${LONGEST_MESSAGE / 1024 / 1024} MB.`);
          return;
        }
      }
    } catch (error) {
      this.onerror?.(new Error(messageOf(error)));
    }
  }

  async #take(line: string): Promise<void> {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      const isJson = !(error instanceof SyntaxError);
      await this.#refuse(isJson ? -32600 : -32700, isJson ? "This is not a JSON-RPC message." : "This line is not JSON.");
      return;
    }
    try {
      this.#seen(message);
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(new Error(messageOf(error)));
    }
  }

  async #refuse(code: number, message: string): Promise<void> {
    await this.#pipes.write(`${JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } })}\n`).catch(() => undefined);
  }
}

import { isObject, messageOf, type PipedProcess, type Processes } from "@assent/core";
import { deserializeMessage, type JSONRPCMessage, type RequestId, serializeMessage, type Transport } from "@modelcontextprotocol/client";

/** The longest message that a server may send, in bytes. */
const LONGEST_MESSAGE = 64 * 1024 * 1024;
const NEWLINE = 10;

/** A program to start, with its whole environment. */
export type ServerProgram = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** What a server's program did besides sending messages. */
export type ProgramReport = {
  /** The end of its standard error. */
  errors: string;
  /** The first line on its standard output that is not a message. */
  garbage?: string;
  /** How it ended, as the end of a sentence: "exited with code 1". */
  end?: string;
};

const KEPT_ERRORS = 4_000;

/** MCP messages over the pipes of a program, which the port starts. One line is one message. */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly report: ProgramReport = { errors: "" };
  readonly #program: ServerProgram;
  readonly #processes: Pick<Processes, "open">;
  readonly #taken: () => Promise<void>;
  #process: PipedProcess | undefined;
  #pieces: Uint8Array[] = [];
  #length = 0;
  #delivered: Promise<void> = Promise.resolve();

  /** `taken` resolves when what the messages caused was sent on. */
  constructor(program: ServerProgram, processes: Pick<Processes, "open">, taken: () => Promise<void> = () => Promise.resolve()) {
    this.#program = program;
    this.#processes = processes;
    this.#taken = taken;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async start(): Promise<void> {
    this.#process = await this.#processes.open({
      ...this.#program,
      onOutput: async (chunk) => {
        this.#take(chunk);
        await this.#delivered;
        await this.#taken(); // a server that sends faster has to wait
      },
      onError: (text) => {
        this.report.errors = (this.report.errors + text).slice(-KEPT_ERRORS);
      },
    });
    void this.#process.ended.then(({ exitCode, signal }) => {
      this.report.end ??= signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`;
      this.onclose?.();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#process) throw new Error("The server's program is not running.");
    await this.#process.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    await this.#process?.close();
  }

  #take(chunk: Uint8Array): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#pieces.push(chunk.subarray(from, end));
      const line = Buffer.concat(this.#pieces).toString("utf8").trim();
      this.#pieces = [];
      this.#length = 0;
      from = end + 1;
      if (line !== "") this.#read(line);
    }
    const rest = chunk.subarray(from);
    if (rest.length === 0) return;
    this.#pieces.push(Uint8Array.from(rest));
    this.#length += rest.length;
    if (this.#length <= LONGEST_MESSAGE) return;
    this.#pieces = [];
    this.#length = 0;
    this.report.end ??= `was ended because it sent a message of more than ${LONGEST_MESSAGE / 1024 / 1024} MB`;
    void this.close();
  }

  #read(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      const id = readInvalidAnswer(line);
      if (id === undefined) {
        this.report.garbage ??= line.slice(0, 200); // servers log to standard output by mistake
        return;
      }
      message = { jsonrpc: "2.0", id, error: { code: -32_603, message: INVALID_ANSWER } };
    }
    // One after the other: the SDK handles a result at once and drops progress that came before it in the same chunk.
    this.#delivered = this.#delivered
      .then(() => this.onmessage?.(message))
      .catch((error: unknown) => this.onerror?.(new Error(messageOf(error))));
  }
}

const INVALID_ANSWER = "its answer is not valid: it needs an object as result, or an error with a code and a message";

/** The id of the request that an invalid message answers, to fail that request at once instead of when its time is up. */
function readInvalidAnswer(line: string): RequestId | undefined {
  try {
    const message: unknown = JSON.parse(line);
    if (!isObject(message) || message["jsonrpc"] !== "2.0" || "method" in message) return undefined;
    const { id } = message;
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  } catch {
    return undefined;
  }
}

import { isDeepStrictEqual } from "node:util";
import { type PendingAction, type RunContext, ToolError } from "@assent/core";
import { fileDigest } from "./file-digest.ts";
import { type ConnectionOptions, ModuleConnection } from "./module-connection.ts";
import type { LoadReport, ThreadRequest } from "./thread-messages.ts";
import type { ServedCall } from "./thread-services.ts";

type ResolvingContext = Parameters<PendingAction["apply"]>[2];

/** The thread that runs now. Apart from `ModuleThread`, so that it can be ended when nothing refers to that one any more. */
type CurrentThread = { connection: ModuleConnection; starting: Promise<ModuleConnection> | undefined };

const forgotten = new FinalizationRegistry<CurrentThread>(({ connection }) => connection.stop(new Error("The module is no longer used.")));

/** A loaded module. Its code runs in a thread of its own; a thread that ended is replaced when the module is needed again. */
export class ModuleThread {
  readonly #options: ConnectionOptions;
  readonly #report: LoadReport;
  readonly #current: CurrentThread;
  #isClosed = false;

  constructor(options: ConnectionOptions, connection: ModuleConnection, report: LoadReport) {
    this.#options = options;
    this.#report = report;
    this.#current = { connection, starting: undefined };
    forgotten.register(this, this.#current);
  }

  /** Runs a function that belongs to no call. */
  async ask(request: ThreadRequest): Promise<unknown> {
    return await (await this.#connection()).request(request);
  }

  /** Runs a function as the effect of a call. */
  async run(request: ThreadRequest, run: RunContext): Promise<unknown> {
    const connection = await this.#connection();
    return await connection.request(request, { signal: run.signal, run, settle: this.#settler(connection) });
  }

  /** Ends the thread for good. */
  close(): void {
    this.#isClosed = true;
    this.#current.connection.stop(new Error("The custom tools were closed."));
  }

  /** Actions stay with the thread that pushed them: their code is nowhere else. */
  #settler(connection: ModuleConnection): ServedCall["settle"] {
    return async (request, settling: ResolvingContext) => {
      if (connection.isOver)
        throw new ToolError("Lost: the code that staged this has ended. Nothing was applied. Preview again.", "proposal_lost");
      return await connection.request(request, { signal: settling.signal, settling, settle: this.#settler(connection) });
    };
  }

  async #connection(): Promise<ModuleConnection> {
    const current = this.#current;
    if (!current.connection.isOver) return current.connection;
    if (this.#isClosed) throw new Error("The custom tools were closed.");
    current.starting ??= this.#startAgain(current.connection.files).finally(() => {
      current.starting = undefined;
    });
    current.connection = await current.starting;
    return current.connection;
  }

  /** Only what was loaded may run under its name: the files must be what they were, and so must the tools. */
  async #startAgain(files: ReadonlyMap<string, string>): Promise<ModuleConnection> {
    for (const [path, digest] of files)
      if (fileDigest(path) !== digest) throw new Error(`${path} changed since the module was loaded. Load the custom tools again.`);
    const connection = new ModuleConnection(this.#options);
    const report = await connection.load();
    if ("failure" in report) throw new Error(`The module could not be started again: ${report.failure.reason}`);
    if (isDeepStrictEqual(report, this.#report)) return connection;
    connection.stop(new Error("The module's tools changed."));
    throw new Error("The module's tools are no longer what they were. Load the custom tools again.");
  }
}

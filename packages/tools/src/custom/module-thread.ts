import { isDeepStrictEqual } from "node:util";
import { type PendingAction, type RunContext, ToolError } from "@assent/core";
import { fileDigest } from "./file-digest.ts";
import { type ConnectionOptions, ModuleConnection } from "./module-connection.ts";
import type { LoadReport, ThreadRequest } from "./thread-messages.ts";
import type { ServedCall } from "./thread-services.ts";

type ResolvingContext = Parameters<PendingAction["apply"]>[2];

/** Separate from `ModuleThread`, so that the thread can be ended once that object is garbage. */
type CurrentThread = { connection: ModuleConnection; starting: Promise<ModuleConnection> | undefined };

const forgotten = new FinalizationRegistry<CurrentThread>(({ connection }) => connection.stop(new Error("The module is no longer used.")));

/** A loaded module. Its code runs in a thread, which is restarted on demand after it ended. */
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

  /** Runs a function outside of a call. */
  async ask(request: ThreadRequest): Promise<unknown> {
    return await (await this.#connection()).request(request);
  }

  /** Runs a function as the effect of a call. */
  async run(request: ThreadRequest, run: RunContext): Promise<unknown> {
    const connection = await this.#connection();
    return await connection.request(request, { signal: run.signal, run, settle: this.#settler(connection) });
  }

  close(): void {
    this.#isClosed = true;
    this.#current.connection.stop(new Error("The custom tools were closed."));
  }

  /** An action's callbacks exist only in the thread that pushed it. */
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

  /** Restarts only the same code: files and tools must be unchanged. */
  async #startAgain(files: ReadonlyMap<string, string>): Promise<ModuleConnection> {
    for (const [path, digest] of files)
      if (fileDigest(path) !== digest) throw new Error(`${path} changed since the module was loaded. Load the custom tools again.`);
    const connection = new ModuleConnection(this.#options);
    const report = await connection.load();
    if ("failure" in report) throw new Error(`The module could not be started again: ${report.failure.reason}`);
    if (isDeepStrictEqual(report, this.#report)) return connection;
    connection.stop(new Error("The module's tools changed."));
    throw new Error("The module's tools have changed. Load the custom tools again.");
  }
}

import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { Clock } from "@assent/core";
import {
  type FromThread,
  type LoadReport,
  reviveError,
  type SentOutcome,
  type ThreadRequest,
  type ThreadStart,
  type ToThread,
  toSentError,
} from "./thread-messages.ts";
import { type ApiPorts, answerAsk, answerSync, type ServedCall, showUpdate } from "./thread-services.ts";

export type ConnectionOptions = {
  /** With links resolved. */
  readonly file: string;
  readonly shownFile: string;
  readonly ports: ApiPorts;
  readonly clock: Clock;
  /** Applies to importing the module and again to its factory. */
  readonly loadTimeoutMs: number;
  /** How long the module may block its thread, and how long functions outside of calls may take. */
  readonly blockTimeoutMs: number;
};

/** A cancelled call that runs longer than this is killed with its thread. The runtime has given it up by then. */
const KILL_AFTER_MS = 6_000;

type PendingRequest = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly call: ServedCall | undefined;
  release: () => void;
  isAborted: boolean;
  isCommitted: boolean;
};

/** One thread of a module, from start to end. It keeps the program alive only while a request is open. */
export class ModuleConnection {
  readonly #options: ConnectionOptions;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #syncPort: MessagePort;
  readonly #answered = new Int32Array(new SharedArrayBuffer(4));
  readonly #pending = new Map<number, PendingRequest>();
  readonly #asks = new Map<number, AbortController>();
  readonly #loading = Promise.withResolvers<LoadReport>();
  #cancelLimit: (() => void) | undefined;
  #cancelBeat: (() => void) | undefined;
  #last = 0;
  #over: Error | undefined;
  /** Digests of the files that the module imported, by path. */
  readonly files: Map<string, string> = new Map();

  constructor(options: ConnectionOptions) {
    const { file, shownFile, ports } = options;
    const [main, sync] = [new MessageChannel(), new MessageChannel()];
    const start: ThreadStart = {
      file,
      shownFile,
      cwd: ports.cwd,
      staging: ports.staging,
      port: main.port2,
      syncPort: sync.port2,
      answered: this.#answered,
    };
    this.#options = options;
    this.#port = main.port1;
    this.#syncPort = sync.port1;
    this.#worker = new Worker(workerFile(), {
      workerData: start,
      transferList: [main.port2, sync.port2],
      ...threadFlags(),
    });
    this.#worker.unref();
    this.#worker.on("error", (error) => this.stop(new Error(`The module's thread ended: ${error.message}`)));
    this.#worker.on("exit", () => this.stop(new Error("The module's thread ended.")));
    this.#port.on("message", (message: FromThread) => this.#receive(message));
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  async load(): Promise<LoadReport> {
    const report = await this.#loading.promise;
    this.#cancelLimit?.();
    if ("failure" in report) this.stop(new Error(report.failure.reason));
    else this.#holdProgram();
    return report;
  }

  /** Runs a function of the module. Outside of a call it must answer within the blocking limit. */
  request(request: ThreadRequest, call?: ServedCall): Promise<unknown> {
    if (this.#over) return Promise.reject(this.#over);
    this.#last += 1;
    const id = this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    try {
      this.#post({ type: "request", id, request });
    } catch (error) {
      return Promise.reject(error); // an argument that cannot be cloned
    }
    const pending: PendingRequest = { resolve, reject, call, release: () => undefined, isAborted: false, isCommitted: false };
    this.#pending.set(id, pending);
    this.#beat();
    pending.release = call ? this.#stopWithCall(id, call) : this.#limitAnswer(request.fn);
    this.#holdProgram();
    return promise;
  }

  /** Ends the thread; all open requests fail with this error. */
  stop(error: Error): void {
    if (this.#over) return;
    this.#over = error;
    this.#cancelLimit?.();
    this.#loading.resolve({ failure: { type: "load_error", reason: error.message } });
    for (const controller of this.#asks.values()) controller.abort(error);
    for (const id of [...this.#pending.keys()]) this.#settle(id, { error: toSentError(error) });
    this.#port.close();
    this.#syncPort.close();
    void this.#worker.terminate();
  }

  #post(message: ToThread): void {
    this.#port.postMessage(message);
  }

  #receive(message: FromThread): void {
    switch (message.type) {
      case "started":
        this.#limitLoading("Module did not finish loading");
        break;
      case "imported":
        this.#limitLoading("Factory did not finish");
        break;
      case "loaded":
        this.#loading.resolve(message.report);
        break;
      case "file":
        this.files.set(message.path, message.digest);
        break;
      case "log":
        this.#log(message);
        break;
      case "done":
        this.#settle(message.id, message.outcome);
        break;
      case "ask":
        void this.#answer(message);
        break;
      case "cancelAsk":
        this.#asks.get(message.id)?.abort();
        break;
      case "sync":
        this.#answerSync(message);
        break;
      case "update":
        showUpdate(message.soFar, this.#callOf(message.request));
        break;
      case "commit":
        this.#commit(message.request);
        break;
      case "notify":
        this.#options.ports.ui?.()?.notify(message.message, message.level);
        break;
      case "pong":
        this.#rest();
        break;
      default:
        message satisfies never;
    }
  }

  #log({ level, message }: Extract<FromThread, { type: "log" }>): void {
    this.#options.ports.log({ level, module: this.#options.shownFile, message });
  }

  #limitLoading(what: string): void {
    const { clock, loadTimeoutMs } = this.#options;
    this.#cancelLimit?.();
    const reason = `${what} in ${loadTimeoutMs / 1_000} s`;
    this.#cancelLimit = clock.timer(loadTimeoutMs, () => this.#loading.resolve({ failure: { type: "factory_timeout", reason } }));
  }

  #callOf(request: number): ServedCall | undefined {
    return this.#pending.get(request)?.call;
  }

  #settle(id: number, outcome: SentOutcome): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    pending.release();
    if ("value" in outcome) pending.resolve(outcome.value);
    else pending.reject(reviveError(outcome.error));
    this.#holdProgram();
    if (this.#pending.size === 0) this.#rest();
  }

  async #answer({ id, ask }: Extract<FromThread, { type: "ask" }>): Promise<void> {
    const controller = new AbortController();
    this.#asks.set(id, controller);
    const call = "request" in ask ? this.#callOf(ask.request) : undefined;
    try {
      const value = await answerAsk(this.#options.ports, ask, { call, signal: controller.signal });
      this.#post({ type: "answer", id, outcome: { value } });
    } catch (error) {
      this.#post({ type: "answer", id, outcome: { error: toSentError(error) } });
    } finally {
      this.#asks.delete(id);
    }
  }

  #answerSync({ ask }: Extract<FromThread, { type: "sync" }>): void {
    let outcome: SentOutcome;
    try {
      outcome = { value: answerSync(this.#options.ports, ask, "request" in ask ? this.#callOf(ask.request) : undefined) };
    } catch (error) {
      outcome = { error: toSentError(error) };
    }
    this.#syncPort.postMessage(outcome);
    Atomics.store(this.#answered, 0, 1);
    Atomics.notify(this.#answered, 0);
  }

  #commit(request: number): void {
    const pending = this.#pending.get(request);
    if (!pending) return;
    pending.isCommitted = true;
    pending.call?.settling?.commit();
  }

  #limitAnswer(fn: ThreadRequest["fn"]): () => void {
    const { clock, blockTimeoutMs } = this.#options;
    const what = fn === "validate" ? "The schema's own code" : `The tool's ${fn}`;
    return clock.timer(blockTimeoutMs, () =>
      this.stop(new Error(`${what} did not answer within ${blockTimeoutMs / 1_000} s and was stopped.`)),
    );
  }

  #stopWithCall(id: number, { signal }: ServedCall): () => void {
    let cancelKill: (() => void) | undefined;
    const abort = (): void => {
      this.#abort(id, signal.reason);
      cancelKill = this.#options.clock.timer(KILL_AFTER_MS, () => {
        if (this.#pending.get(id)?.isCommitted === false)
          this.stop(new Error("The tool kept running after it was cancelled, so it was stopped."));
      });
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    return () => {
      signal.removeEventListener("abort", abort);
      cancelKill?.();
    };
  }

  #abort(id: number, reason: unknown): void {
    const pending = this.#pending.get(id);
    if (pending) pending.isAborted = true; // the runtime decides how long to wait for it
    this.#post({ type: "abort", id, reason: toSentError(reason) });
    this.#holdProgram();
  }

  /** Checks that the thread responds while requests are open. */
  #beat(): void {
    if (this.#cancelBeat || this.#pending.size === 0) return;
    const { clock, blockTimeoutMs } = this.#options;
    this.#post({ type: "ping" });
    this.#cancelBeat = clock.timer(blockTimeoutMs, () =>
      this.stop(new Error(`The tool's code blocked its thread for ${blockTimeoutMs / 1_000} s and was stopped.`)),
    );
  }

  #rest(): void {
    this.#cancelBeat?.();
    this.#cancelBeat = undefined;
    if (this.#pending.size === 0) return;
    const { clock, blockTimeoutMs } = this.#options;
    this.#cancelBeat = clock.timer(blockTimeoutMs / 2, () => {
      this.#cancelBeat = undefined;
      this.#beat();
    });
  }

  #holdProgram(): void {
    if (this.#over) return;
    if ([...this.#pending.values()].some(({ isAborted }) => !isAborted)) this.#port.ref();
    else this.#port.unref();
  }
}

/** True if this runs from source, without a build. */
function isSource(): boolean {
  return import.meta.url.endsWith(".ts");
}

function workerFile(): URL {
  return new URL(isSource() ? "./module-worker.ts" : "./module-worker.js", import.meta.url);
}

/** Passes the program's flags to the thread, except those that belong to `--eval`. */
function threadFlags(): { readonly execArgv?: string[] } {
  if (!isSource() && !process.execArgv.some((flag) => flag.startsWith("--input-type"))) return {};
  const conditions = process.execArgv.filter((flag) => flag.startsWith("--conditions="));
  return { execArgv: isSource() ? [...conditions, "--conditions=@assent/source"] : conditions };
}

import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import { createContext, Script } from "node:vm";
import type { RunContext } from "@assent/core";
import type { LogLevel } from "./custom-tool.ts";
import { wordsOf } from "./tool-failure.ts";

/** One loaded module. */
export type ModuleIdentity = { readonly file: string; readonly log: (level: LogLevel, message: string) => void };

/** A call of a module's tool, or the settling of what it staged, for as long as it lasts. */
export type RunningCall = {
  readonly signal: AbortSignal;
  /** Absent: a callback of a pending action runs. */
  readonly run?: RunContext;
  over: boolean;
};

/** What code of a module is doing. */
export type ModuleScope = {
  readonly module: ModuleIdentity;
  readonly phase: "loading" | "judging" | "running";
  readonly call?: RunningCall;
  triedToExit: boolean;
  /** While it loads: rejections that nobody handled. */
  rejections?: unknown[] | undefined;
};

const SCOPE = new AsyncLocalStorage<ModuleScope | undefined>();

/** What a module that would end the process is told, and people after it. */
export const EXIT_REFUSED = "Module tried to exit the process";

/** The scope of the code that asks; undefined: it is none of a module. */
export function currentScope(): ModuleScope | undefined {
  return SCOPE.getStore();
}

/**
 * Runs code of a module. However long it goes on, it neither writes to standard output, which goes to its log, nor ends the process: not by `process.exit`, a throw in
 * a timer or a rejection that nobody handles. Code that blocks for more than 10 s before its first `await` is stopped with an error.
 */
export function insideModule<T>(scope: ModuleScope, body: () => T): T {
  guardProcess();
  return SCOPE.run(scope, () => withinTime(body));
}

const LONGEST_BLOCK_MS = 10_000;

type Held = { body: (() => unknown) | undefined; value: unknown };

const HELD: Held = { body: undefined, value: undefined };
let runHeld: ((options: { readonly timeout: number }) => unknown) | undefined;

/** Only a script of `node:vm` has a time limit that ends a loop; it covers everything the script calls. */
export function withinTime<T>(body: () => T): T {
  runHeld ??= makeRunner();
  HELD.body = body;
  try {
    runHeld({ timeout: LONGEST_BLOCK_MS });
    return HELD.value as T;
  } catch (error) {
    if (Reflect.get(Object(error), "code") !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error; // an error of another realm
    throw new Error(`The tool's code blocked the program for ${LONGEST_BLOCK_MS / 1_000} s and was stopped.`);
  } finally {
    HELD.value = undefined;
  }
}

function makeRunner(): NonNullable<typeof runHeld> {
  const call = (): void => {
    const { body } = HELD;
    HELD.body = undefined;
    HELD.value = body?.();
  };
  const context = createContext({ call });
  const script = new Script("call()");
  return (options) => script.runInContext(context, options);
}

/** Runs code of ours that a module called: what it writes is not the module's. */
export function outsideModules<T>(body: () => T): T {
  return SCOPE.run(undefined, body);
}

let guarded = false;

/** Once, and only where modules are loaded: whoever is in no module's scope finds everything as it was. */
function guardProcess(): void {
  if (guarded) return;
  guarded = true;
  process.exit = new Proxy(process.exit, {
    apply: (exit, self, words) => {
      const scope = SCOPE.getStore();
      if (!scope) return Reflect.apply(exit, self, words);
      scope.triedToExit = true;
      throw new Error(EXIT_REFUSED);
    },
  });
  process.stdout.write = new Proxy(process.stdout.write, {
    apply: (write, self, words) => {
      const scope = SCOPE.getStore();
      if (!scope) return Reflect.apply(write, self, words);
      const [chunk] = words;
      const { log } = scope.module;
      outsideModules(() => log("info", textOf(chunk).replace(/\n$/, "")));
      const done: unknown = words.findLast((word) => typeof word === "function");
      if (typeof done === "function") queueMicrotask(() => done());
      return true;
    },
  });
  syncBuiltinESMExports(); // for those who import `exit` by its name
  process.on("uncaughtException", (error) => {
    if (isLogged(error)) return;
    if (process.listenerCount("uncaughtException") > 1) return; // somebody else decides
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  });
  process.on("unhandledRejection", (reason) => {
    const rejections = currentScope()?.rejections;
    if (rejections) return void rejections.push(reason); // whoever loads the module tells
    if (isLogged(reason)) return;
    if (process.listenerCount("unhandledRejection") === 1) throw reason;
  });
}

/** An error of a module's own timers and callbacks goes to its log. */
function isLogged(error: unknown): boolean {
  const scope = SCOPE.getStore();
  if (!scope) return false;
  outsideModules(() => scope.module.log("error", `An error that nobody caught: ${wordsOf(error)}`));
  return true;
}

function textOf(chunk: unknown): string {
  return chunk instanceof Uint8Array ? Buffer.from(chunk).toString("utf8") : String(chunk);
}

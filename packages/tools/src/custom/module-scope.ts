import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import type { RunContext } from "@assent/core";
import type { LogLevel } from "./custom-tool.ts";

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
};

const SCOPE = new AsyncLocalStorage<ModuleScope | undefined>();

/** What a module that would end the process is told, and people after it. */
export const EXIT_REFUSED = "Module tried to exit the process";

/** The scope of the code that asks; undefined: it is none of a module. */
export function currentScope(): ModuleScope | undefined {
  return SCOPE.getStore();
}

/** Runs code of a module. However long it goes on, it neither writes to standard output, which goes to its log, nor ends the process. */
export function insideModule<T>(scope: ModuleScope, body: () => T): T {
  guardProcess();
  return SCOPE.run(scope, body);
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
}

function textOf(chunk: unknown): string {
  return chunk instanceof Uint8Array ? Buffer.from(chunk).toString("utf8") : String(chunk);
}

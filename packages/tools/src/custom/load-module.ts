import { basename } from "node:path";
import { type Clock, isObject } from "@assent/core";
import type { CustomToolApi } from "./custom-tool.ts";
import type { FoundModule } from "./discover.ts";
import { freshImport } from "./fresh-import.ts";
import { EXIT_REFUSED, insideModule, type ModuleIdentity, type ModuleScope, withinTime } from "./module-scope.ts";
import { moduleFailure, type ToolFailure, wordsOf } from "./tool-failure.ts";
import { catchRejections } from "./unhandled-rejections.ts";

/** What one module gave: things that should be tools, or why there are none. */
export type LoadedModule = { readonly given: readonly unknown[] } | { readonly failure: ToolFailure };

/** What a module is loaded with. */
export type Loading = {
  readonly module: ModuleIdentity;
  readonly api: CustomToolApi;
  readonly clock: Clock;
  readonly timeoutMs: number;
};

/** Imports one module and calls its factory. It never rejects, and nothing the module does while it loads stops the process. */
export async function loadModule(found: FoundModule, loading: Loading): Promise<LoadedModule> {
  const scope: ModuleScope = { module: loading.module, phase: "loading", triedToExit: false };
  const { exitCode } = process;
  const alive = setInterval(() => undefined, LONGEST); // the clock's timers let a process end; here somebody waits
  try {
    const { value, rejections } = await catchRejections(scope, () => insideModule(scope, () => give(found, loading)));
    if (scope.triedToExit) return failed(found, "load_error", EXIT_REFUSED);
    if (rejections.length > 0 && "given" in value) return failed(found, "load_error", `Unhandled rejection: ${wordsOf(rejections[0])}`);
    return value;
  } finally {
    clearInterval(alive);
    process.exitCode = exitCode;
  }
}

const LONGEST = 2 ** 31 - 1;

/** import → factory → what it returns. */
async function give(found: FoundModule, loading: Loading): Promise<LoadedModule> {
  const { timeoutMs, api } = loading;
  const seconds = timeoutMs / 1_000;
  const imported = await inTime(loading, () => freshImport(found.real));
  if (imported === LATE) return failed(found, "factory_timeout", `Module did not finish loading in ${seconds} s`);
  if ("thrown" in imported) return failed(found, "load_error", importWords(imported.thrown, found.real));
  const factory = factoryOf(imported.value);
  if (!factory) return failed(found, "bad_export", "Default export is not a factory function");
  const made = await inTime(loading, async () => listed(await withinTime(() => factory(api))));
  if (made === LATE) return failed(found, "factory_timeout", `Factory did not finish in ${seconds} s`);
  if ("thrown" in made) return failed(found, "factory_error", `Factory failed: ${wordsOf(made.thrown)}`);
  const given = made.value;
  return given ? { given } : failed(found, "factory_error", "Factory returned no tool");
}

/** Undefined: what it returned is no tool, and no list. */
function listed(returned: unknown): readonly unknown[] | undefined {
  if (Array.isArray(returned)) return [...returned];
  return typeof returned === "object" && returned !== null ? [returned] : undefined;
}

function failed({ source }: FoundModule, type: ToolFailure["type"], reason: string): LoadedModule {
  return { failure: moduleFailure(source, type, reason) };
}

/** Also of a CommonJS module that a compiler made of another one. */
function factoryOf(namespace: unknown): ((api: CustomToolApi) => unknown) | undefined {
  const given: unknown = Reflect.get(Object(namespace), "default");
  const inner: unknown = isObject(given) && given["__esModule"] === true ? given["default"] : given;
  // Parsing: whatever it returns is checked.
  return typeof inner === "function" ? (inner as (api: CustomToolApi) => unknown) : undefined;
}

const LATE = Symbol("late");

type Settled<T> = { readonly value: T } | { readonly thrown: unknown };

async function inTime<T>({ clock, timeoutMs }: Loading, begin: () => Promise<T>): Promise<Settled<T> | typeof LATE> {
  const { promise: late, resolve } = Promise.withResolvers<typeof LATE>();
  const cancel = clock.timer(timeoutMs, () => resolve(LATE));
  const settled = begin().then(
    (value): Settled<T> => ({ value }),
    (thrown: unknown): Settled<T> => ({ thrown }),
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    cancel();
  }
}

const COMPILED = ["ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX", "ERR_INVALID_TYPESCRIPT_SYNTAX"];

/** The message, where it happened, and what types-only TypeScript cannot do. */
function importWords(thrown: unknown, file: string): string {
  const code: unknown = thrown instanceof Error ? Reflect.get(thrown, "code") : undefined;
  const needsCompiler = typeof code === "string" && COMPILED.includes(code);
  const hint = needsCompiler ? ". Types are only removed: enums, namespaces, parameter properties and JSX need compiling" : "";
  return `${wordsOf(thrown)}${placeOf(thrown, file)}${hint}`;
}

/** Node names the place above the message, or it is where the error was made: the first frame below. */
function placeOf(thrown: unknown, file: string): string {
  const stack = thrown instanceof Error ? (thrown.stack ?? "") : "";
  const above = /^(?:file:\/\/)?(\/.*?)(?:\?assent=\d+)?:(\d+)\n/.exec(stack);
  const below = /^[^\n]*\n\s+at (?:.*\()?(?:file:\/\/)?(\/.*?)(?:\?assent=\d+)?:(\d+):\d+\)?(?:\n|$)/.exec(stack);
  const [, path, line] = above ?? below ?? [];
  if (path === undefined || line === undefined) return "";
  const name = basename(decodeURI(path));
  return name === basename(file) ? ` (line ${line})` : ` (${name} line ${line})`;
}

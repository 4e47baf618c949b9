import { isDeepStrictEqual } from "node:util";
import type { Clock, Schemas, Tool } from "@assent/core";
import { type AdaptedTool, adaptTool } from "./adapt-tool.ts";
import { type DiscoverOptions, discoverModules, type FoundModule, type ToolSource } from "./discover.ts";
import { fileDigest } from "./file-digest.ts";
import { ModuleConnection } from "./module-connection.ts";
import { ModuleThread } from "./module-thread.ts";
import type { ApiPorts } from "./thread-services.ts";
import { moduleFailure, type ToolFailure } from "./tool-failure.ts";

/** Where custom tools are, and what they are given. */
export type CustomToolOptions = Omit<DiscoverOptions, "cwd"> & {
  /** Names that are taken: of all registered tools, hidden ones and aliases too. */
  readonly registryNames: readonly string[];
  readonly ports: ApiPorts;
  readonly schemas: Schemas;
  readonly clock: Clock;
  /** For one module; 10 s when absent. */
  readonly loadTimeoutMs?: number;
  /** How long a module's code may block its thread before it is stopped; 10 s when absent. */
  readonly blockTimeoutMs?: number;
};

/** The tools that can be registered, and everything that cannot, with its reason. */
export type LoadedTools = {
  readonly tools: readonly AdaptedTool[];
  readonly failed: readonly ToolFailure[];
  /** Modules of a project that is not trusted. Nothing of them was read. */
  readonly untrusted: readonly string[];
  /** Ends the threads of the modules. Calls under way fail, and so do later ones. Without it a thread ends with the program, or when nothing uses its tools. */
  readonly close: () => void;
};

/** Belongs to the runtime whether it is registered here or not. */
const RESERVED = ["resolve", "ask"];
const LOAD_TIMEOUT_MS = 10_000;
const BLOCK_TIMEOUT_MS = 10_000;

/** Loads every custom tool anew, one module after the other. It never rejects for a bad module or tool: that one is left out, and said so. */
export async function loadCustomTools(options: CustomToolOptions): Promise<LoadedTools> {
  const { modules, failed: unfound, untrusted } = discoverModules({ ...options, cwd: options.ports.cwd });
  const failed: ToolFailure[] = [...unfound];
  const tools: AdaptedTool[] = [];
  const threads: ModuleThread[] = [];
  const names = reserveNames(options.registryNames);
  for (const module of modules) {
    for (const made of await loadModuleTools(module, options, threads)) {
      const failure = "failure" in made ? made.failure : names.refuse(made.tool.name, made.source);
      if (failure) failed.push(failure);
      else if ("tool" in made) tools.push(made);
    }
  }
  const close = (): void => {
    for (const thread of threads) thread.close();
  };
  return { tools, failed, untrusted, close };
}

type LoadedItem = AdaptedTool | { readonly failure: ToolFailure };

async function loadModuleTools(found: FoundModule, options: CustomToolOptions, threads: ModuleThread[]): Promise<readonly LoadedItem[]> {
  const { ports, schemas, clock, loadTimeoutMs = LOAD_TIMEOUT_MS, blockTimeoutMs = BLOCK_TIMEOUT_MS } = options;
  const { source, real: file } = found;
  const code = fileDigest(file);
  const starting = { file, shownFile: source.file, ports, clock, loadTimeoutMs, blockTimeoutMs };
  const connection = new ModuleConnection(starting);
  const report = await connection.load();
  if ("failure" in report) return [{ failure: moduleFailure(source, report.failure.type, report.failure.reason) }];
  const thread = new ModuleThread(starting, connection, report);
  threads.push(thread);
  return report.items.map((item, at) => adaptTool(item, at, { source, thread, schemas, code }));
}

/** Providers fold case, and hyphens with underscores: what they would take for one name is one. The first has it. */
function reserveNames(taken: readonly string[]): { readonly refuse: (name: string, source: ToolSource) => ToolFailure | undefined } {
  const fold = (name: string): string => name.toLowerCase().replaceAll("-", "_");
  const builtIn = new Set([...RESERVED, ...taken].map(fold));
  const providers = new Map<string, string>();
  return {
    refuse: (name, { file }) => {
      const folded = fold(name);
      const provider = providers.get(folded);
      if (builtIn.has(folded)) return duplicateName(file, name, `Tool "${name}" clashes with a built-in tool`);
      if (provider !== undefined) return duplicateName(file, name, `Tool "${name}" is already provided by ${provider}`);
      providers.set(folded, file);
      return undefined;
    },
  };
}

function duplicateName(file: string, tool: string, reason: string): ToolFailure {
  return { file, tool, reason, type: "duplicate_name" };
}

/** Tools that were loaded anew, and what became of those that were there, by name. */
export type ReloadedTools = LoadedTools & {
  /** Another definition or another file's text under the same name. Only of another definition waiting calls end as `tool_changed`. */
  readonly changed: readonly string[];
  /** Gone, or no longer loading: their waiting calls end so too. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
};

/** Loads everything again, between two turns. What runs goes on with the old code; a module that fails now has no tools, whatever it had before. */
export async function reloadCustomTools(before: LoadedTools, options: CustomToolOptions): Promise<ReloadedTools> {
  const now = await loadCustomTools(options);
  const old = new Map(before.tools.map((adapted) => [adapted.tool.name, adapted]));
  const present = new Map(now.tools.map((adapted) => [adapted.tool.name, adapted]));
  const names = [...present.keys()];
  return {
    ...now,
    changed: names.filter((name) => old.has(name) && !isSameTool(old.get(name), present.get(name))),
    removed: [...old.keys()].filter((name) => !present.has(name)),
    added: names.filter((name) => !old.has(name)),
  };
}

function isSameTool(one: AdaptedTool | undefined, other: AdaptedTool | undefined): boolean {
  return one?.code === other?.code && isDeepStrictEqual(one && definitionData(one.tool), other && definitionData(other.tool));
}

/** The parts that make up a definition's digest: all that is data. Functions have none. */
function definitionData({ title, inputSchema, definition: { input: _, ...definition } }: Tool): object {
  return { title, inputSchema, ...Object.fromEntries(Object.entries(definition).filter(([, value]) => typeof value !== "function")) };
}

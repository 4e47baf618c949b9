import { isDeepStrictEqual } from "node:util";
import type { Clock, Schemas, Tool } from "@assent/core";
import { type AdaptedTool, adaptTool } from "./adapt-tool.ts";
import { type DiscoverOptions, discoverModules, type FoundModule, type ToolSource } from "./discover.ts";
import { fileDigest } from "./file-digest.ts";
import { ModuleConnection } from "./module-connection.ts";
import { ModuleThread } from "./module-thread.ts";
import type { ApiPorts } from "./thread-services.ts";
import { moduleFailure, type ToolFailure } from "./tool-failure.ts";

/** Where custom tools are, and what they can use. */
export type CustomToolOptions = Omit<DiscoverOptions, "cwd"> & {
  /** Names that are taken, including hidden tools and aliases. */
  readonly registryNames: readonly string[];
  readonly ports: ApiPorts;
  readonly schemas: Schemas;
  readonly clock: Clock;
  /** Per module; 10 s by default. */
  readonly loadTimeoutMs?: number;
  /** How long a module may block its thread before it is stopped; 10 s by default. */
  readonly blockTimeoutMs?: number;
};

/** The loaded tools, and the reason for each one that failed. */
export type LoadedTools = {
  readonly tools: readonly AdaptedTool[];
  readonly failed: readonly ToolFailure[];
  /** Modules of an untrusted project. None of them was read. */
  readonly untrusted: readonly string[];
  /** Ends the modules' threads; running and later calls fail. Otherwise a thread ends when its tools are no longer used. */
  readonly close: () => void;
};

/** Reserved for the runtime, even if not registered. */
const RESERVED = ["resolve", "ask"];
const LOAD_TIMEOUT_MS = 10_000;
const BLOCK_TIMEOUT_MS = 10_000;

/** Loads all custom tools, one module at a time. A bad module or tool is reported in `failed` and never rejects. */
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

/** Providers ignore case and treat hyphens as underscores, so such names collide. The first one wins. */
function reserveNames(taken: readonly string[]): { readonly refuse: (name: string, source: ToolSource) => ToolFailure | undefined } {
  const fold = (name: string): string => name.toLowerCase().replaceAll("-", "_");
  const builtIn = new Set([...RESERVED, ...taken].map(fold));
  const providers = new Map<string, string>();
  return {
    refuse: (name, { file }) => {
      const folded = fold(name);
      const provider = providers.get(folded);
      if (builtIn.has(folded)) return duplicateName(file, name, `Tool "${name}" conflicts with a built-in tool`);
      if (provider !== undefined) return duplicateName(file, name, `Tool "${name}" is already provided by ${provider}`);
      providers.set(folded, file);
      return undefined;
    },
  };
}

function duplicateName(file: string, tool: string, reason: string): ToolFailure {
  return { file, tool, reason, type: "duplicate_name" };
}

/** Reloaded tools, and what changed by name. */
export type ReloadedTools = LoadedTools & {
  /** The definition or the code changed. Waiting calls end as `tool_changed` only if the definition did. */
  readonly changed: readonly string[];
  /** Gone or failing now; waiting calls end as `tool_changed`. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
};

/** Reloads everything between two turns. Running calls finish with the old code. A module that fails now has no tools. */
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

function definitionData({ title, inputSchema, definition: { input: _, ...definition } }: Tool): object {
  return { title, inputSchema, ...Object.fromEntries(Object.entries(definition).filter(([, value]) => typeof value !== "function")) };
}

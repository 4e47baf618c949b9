import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock, Schemas } from "@assent/core";
import { type AdaptedTool, adaptTool } from "./adapt-tool.ts";
import { discoverModules, type FoundModule, type Places, type ToolSource } from "./discover.ts";
import { type ApiPorts, factoryApi } from "./factory-api.ts";
import { loadModule } from "./load-module.ts";
import type { ModuleIdentity } from "./module-scope.ts";
import type { ToolFailure } from "./tool-failure.ts";

/** Where custom tools are, and what they are given. */
export type CustomToolOptions = Omit<Places, "cwd"> & {
  /** Names that are taken: of all registered tools, hidden ones and aliases too. */
  readonly registryNames: readonly string[];
  readonly ports: ApiPorts;
  readonly schemas: Schemas;
  readonly clock: Clock;
  /** For one module; 10 s when absent. */
  readonly loadTimeoutMs?: number;
};

/** The tools that can be registered, and everything that cannot, with its reason. */
export type LoadedTools = {
  readonly tools: readonly AdaptedTool[];
  readonly failed: readonly ToolFailure[];
  /** Modules of a project that is not trusted. Nothing of them was read. */
  readonly untrusted: readonly string[];
};

/** Belongs to the runtime whether it is registered here or not. */
const RESERVED = ["resolve", "ask"];
const LOAD_TIMEOUT_MS = 10_000;

/** Loads every custom tool anew, one module after the other. It never rejects for a bad module or tool: that one is left out, and said so. */
export async function loadCustomTools(options: CustomToolOptions): Promise<LoadedTools> {
  const { modules, failed: unfound, untrusted } = discoverModules({ ...options, cwd: options.ports.cwd });
  const failed: ToolFailure[] = [...unfound];
  const tools: AdaptedTool[] = [];
  const names = namesOf(options.registryNames);
  for (const module of modules) {
    for (const made of await toolsOf(module, options)) {
      const failure = "failure" in made ? made.failure : names.refuse(made.tool.name, made.source);
      if (failure) failed.push(failure);
      else if ("tool" in made) tools.push(made);
    }
  }
  return { tools, failed, untrusted };
}

type Made = AdaptedTool | { readonly failure: ToolFailure };

async function toolsOf(
  found: FoundModule,
  { ports, schemas, clock, loadTimeoutMs = LOAD_TIMEOUT_MS }: CustomToolOptions,
): Promise<readonly Made[]> {
  const { source } = found;
  const module: ModuleIdentity = {
    file: source.file,
    log: (level, message) => ports.log({ level, module: source.file, message }),
  };
  const api = factoryApi(module, ports, await import("zod"));
  const code = codeOf(found);
  const loaded = await loadModule(found, { module, api, clock, timeoutMs: loadTimeoutMs });
  if ("failure" in loaded) return [loaded];
  return loaded.given.map((given, index) => adaptTool(given, index + 1, { source, module, ports, schemas, code }));
}

function codeOf({ real }: FoundModule): string {
  try {
    return createHash("sha256").update(readFileSync(real)).digest("hex");
  } catch {
    return ""; // loading it says why
  }
}

/** Providers fold case, and hyphens with underscores: what they would take for one name is one. The first has it. */
function namesOf(taken: readonly string[]): { readonly refuse: (name: string, source: ToolSource) => ToolFailure | undefined } {
  const fold = (name: string): string => name.toLowerCase().replaceAll("-", "_");
  const builtIn = new Set([...RESERVED, ...taken].map(fold));
  const providers = new Map<string, string>();
  return {
    refuse: (name, { file }) => {
      const folded = fold(name);
      const provider = providers.get(folded);
      if (builtIn.has(folded)) return duplicate(file, name, `Tool "${name}" clashes with a built-in tool`);
      if (provider !== undefined) return duplicate(file, name, `Tool "${name}" is already provided by ${provider}`);
      providers.set(folded, file);
      return undefined;
    },
  };
}

function duplicate(file: string, tool: string, reason: string): ToolFailure {
  return { file, tool, reason, type: "duplicate_name" };
}

import { type BackgroundCommands, createRegistry, type Registry, type Tool, ToolError } from "@assent/core";
import { ajvSchemas, type HostPorts } from "@assent/host";
import type { PathLookup, Settings } from "@assent/policy";
import { builtinTools, type OfferedAgent, type Reads, type ShellContainment } from "@assent/tools";
import type { Context } from "../command-line/spec.ts";

export type ToolLocation = {
  readonly ports: HostPorts;
  readonly workspace: string;
  readonly look: PathLookup;
  /** Absent if tools are only listed. */
  readonly settings?: () => Settings;
  /** A rule names this private host. */
  readonly privateAllowed?: (url: string) => boolean;
  /** A rule forbids reading this file. */
  readonly hides?: (path: string) => boolean;
  readonly reads?: Reads;
  /** Absent if tools are only listed. */
  readonly background?: BackgroundCommands;
  readonly agents?: readonly OfferedAgent[];
  /** Absent if tools are only listed. */
  readonly containment?: ShellContainment;
  readonly showsUnconfined?: boolean;
};

export function createToolRegistry(tools: readonly Tool[]): Registry {
  const registry = createRegistry({ schemas: ajvSchemas() });
  for (const tool of tools) registry.add(tool);
  return registry;
}

export function builtInTools({ io, overrides }: Pick<Context, "io" | "overrides">, place: ToolLocation): readonly Tool[] {
  const { ports, workspace, look: scope, settings } = place;
  const { files, processes } = ports;
  const follows = {
    secretEnv: () => settings?.().secretEnv ?? [],
    projectSecretEnv: () => settings?.().projectSecretEnv ?? [],
    shellEnv: () => settings?.()["shell.env"] ?? [],
    shellPath: () => settings?.()["shell.path"] ?? [],
    ...(settings && { maxFiles: () => settings()["astEdit.maxFiles"], maxChanges: () => settings()["astEdit.maxChanges"] }),
  };
  const { privateAllowed, hides, reads, agents, containment, showsUnconfined } = place;
  const builtin = builtinTools({
    workspace,
    scope,
    files,
    processes,
    environment: io.env,
    background: place.background ?? deferredCommands(),
    effects: ports.effectsIn(workspace),
    ...follows,
    ...(privateAllowed && { privateAllowed }),
    ...(hides && { hides }),
    ...(reads && { reads }),
    ...(agents && { agents }),
    ...(containment && { containment }),
    ...(showsUnconfined && { showsUnconfined }),
  });
  return [...builtin, ...(overrides.tools ?? [])];
}

export type DeferredCommands = BackgroundCommands & {
  readonly keptBy: (commands: BackgroundCommands) => void;
};

/** Refuses commands until tasks exist: a single call could neither end nor report them. */
export function deferredCommands(): DeferredCommands {
  let keeper: BackgroundCommands | undefined;
  return {
    keptBy: (commands) => {
      keeper = commands;
    },
    start: async (command, signal) => {
      if (keeper) return await keeper.start(command, signal);
      throw new ToolError("Background commands are not available here: run it in the foreground.", "shell_execute_error");
    },
  };
}

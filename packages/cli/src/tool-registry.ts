import { createRegistry, type Registry } from "@assent/core";
import type { HostPorts } from "@assent/host";
import type { SessionDirectories } from "@assent/policy";
import { ajvSchemas, builtinTools } from "@assent/tools";
import type { Context } from "./command-spec.ts";

/** Where the tools of a registry work. */
export type ToolPlace = { readonly ports: HostPorts; readonly scope: SessionDirectories };

/** The built-in tools and those a test entry adds. */
export function toolRegistry({ io, overrides }: Pick<Context, "io" | "overrides">, { ports, scope }: ToolPlace): Registry {
  const { files, processes } = ports;
  const registry = createRegistry({ schemas: ajvSchemas() });
  const builtin = builtinTools({ ...scope, files, processes, environment: io.env });
  for (const tool of [...builtin, ...(overrides.tools ?? [])]) registry.add(tool);
  return registry;
}

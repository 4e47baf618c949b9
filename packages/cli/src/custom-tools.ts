import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathScope, settingsPlaces } from "@assent/policy";
import { ajvSchemas, failureText, type LoadedTools, loadCustomTools, type ToolFolder } from "@assent/tools";
import type { callPorts } from "./call-runtime.ts";
import type { Context } from "./command-spec.ts";
import { CommandError } from "./failure.ts";
import { toolRegistry } from "./tool-registry.ts";
import { oneLine } from "./visible-text.ts";

/** Where custom tools are looked for. */
export type CustomPlace = {
  readonly ports: ReturnType<typeof callPorts>;
  readonly workspace: string;
  readonly trusted?: boolean;
  /** With it only what was named is loaded. */
  readonly policyFile?: string;
  readonly tools?: readonly string[];
};

const NONE: LoadedTools = { tools: [], failed: [], untrusted: [] };

/** The user's own tools, those of a trusted project, and those that were named. Where there are none, nothing is loaded to find that out. */
export async function customTools(context: Context, place: CustomPlace): Promise<LoadedTools> {
  const { io } = context;
  const { ports, workspace, trusted = false, policyFile, tools: explicit = [] } = place;
  const folders = (policyFile === undefined ? foldersOf(io.env, workspace) : []).filter(({ path }) => existsSync(path));
  if (folders.length === 0 && explicit.length === 0) return NONE;
  const taken = toolRegistry(context, { ports, workspace, look: pathScope({ workspace }) }).list();
  return loadCustomTools({
    folders,
    explicit,
    trusted,
    registryNames: taken.map(({ name }) => name),
    schemas: ajvSchemas(),
    clock: ports.clock,
    ports: {
      cwd: io.cwd,
      processes: ports.processes,
      environment: io.env,
      log: ({ level, module, message }) => {
        if (level === "warn" || level === "error") void io.stderr.write(`${oneLine(module)}: ${oneLine(message)}\n`);
      },
      mode: () => "default",
      staging: true,
    },
  });
}

function foldersOf(env: Context["io"]["env"], workspace: string): readonly ToolFolder[] {
  return [
    { path: join(dirname(settingsPlaces(env).userFile), "tools"), level: "user" },
    { path: join(workspace, ".assent", "tools"), level: "project" },
  ];
}

/** Failures are shown, and with `--strict-tools` nothing starts. */
export async function tellFailedTools({ io, options }: Context, { failed }: LoadedTools): Promise<void> {
  if (failed.length === 0) return;
  for (const failure of failed) await io.stderr.write(`${oneLine(failureText(failure))}\n`);
  const [first] = failed;
  if (first && options.flag("strict-tools"))
    throw new CommandError(first.type, 2, {
      message: `${failed.length} custom ${failed.length === 1 ? "tool" : "tools"} could not be loaded.`,
      hint: "Mend them, or leave out --strict-tools.",
    });
}

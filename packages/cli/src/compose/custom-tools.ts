import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { ajvSchemas } from "@assent/host";
import { createPathLookup, createRedactor, type Settings, settingsLocations } from "@assent/policy";
import {
  type CustomToolOptions,
  failureText,
  type LoadedTools,
  loadCustomTools,
  type ReloadedTools,
  reloadCustomTools,
  type ToolFolder,
} from "@assent/tools";
import type { Context } from "../command-line/spec.ts";
import { CommandError } from "../io/failure.ts";
import { warn } from "../io/output.ts";
import { counted, oneLine } from "../io/visible-text.ts";
import type { hostPortsFor } from "./ports.ts";

import { builtInTools } from "./tool-registry.ts";

export type CustomToolsLocation = {
  readonly ports: ReturnType<typeof hostPortsFor>;
  readonly workspace: string;
  readonly trusted?: boolean;
  readonly policyFile?: string;
  readonly tools?: readonly string[];
  /** Not called if there are no modules. */
  readonly settings: () => Settings;
};

const NONE: LoadedTools = { tools: [], failed: [], untrusted: [], close: () => undefined };

export async function loadTools(context: Context, place: CustomToolsLocation): Promise<LoadedTools> {
  const isNamed = (place.tools ?? []).length > 0;
  return isNamed || toolPaths(context, place).some((path) => existsSync(path)) ? await loadCustomTools(optionsOf(context, place)) : NONE;
}

export function reloadTools(context: Context, place: CustomToolsLocation, before: LoadedTools): Promise<ReloadedTools> {
  return reloadCustomTools(before, optionsOf(context, place));
}

export function toolPaths({ io }: Context, { workspace, policyFile, tools = [] }: CustomToolsLocation): readonly string[] {
  const folders = policyFile === undefined ? foldersOf(io.env, workspace) : [];
  return [...folders.map(({ path }) => path), ...tools];
}

function optionsOf(context: Context, place: CustomToolsLocation): CustomToolOptions {
  const { io } = context;
  const { ports, workspace, trusted = false, policyFile, tools: explicit = [] } = place;
  const settings = place.settings();
  const redact = createRedactor(settings["redaction.patterns"]);
  const taken = builtInTools(context, { ports, workspace, look: createPathLookup({ workspace }) });
  return {
    folders: policyFile === undefined ? foldersOf(io.env, workspace) : [],
    explicit,
    trusted,
    registryNames: taken.map(({ name }) => name),
    schemas: ajvSchemas(),
    clock: ports.clock,
    loadTimeoutMs: settings["tools.loadTimeout"] * 1_000,
    blockTimeoutMs: settings["tools.blockTimeout"] * 1_000,
    ports: {
      cwd: io.cwd,
      processes: ports.processes,
      environment: io.env,
      secretEnv: () => place.settings().secretEnv,
      projectSecretEnv: () => place.settings().projectSecretEnv,
      log: ({ level, module, message }) => {
        if (level === "warn" || level === "error") void io.stderr.write(`${oneLine(module)}: ${oneLine(redact(message))}\n`);
      },
      staging: true,
    },
  };
}

function foldersOf(env: Context["io"]["env"], workspace: string): readonly ToolFolder[] {
  return [
    { path: join(dirname(settingsLocations(env).userFile), "tools"), level: "user" },
    { path: join(workspace, ".assent", "tools"), level: "project" },
  ];
}

/** Throws with `--strict-tools`. */
export async function reportFailedTools({ io, options }: Context, { failed }: LoadedTools): Promise<void> {
  if (failed.length === 0) return;
  for (const failure of failed) await io.stderr.write(`${oneLine(failureText(failure))}\n`);
  const [first] = failed;
  if (first && options.flag("strict-tools"))
    throw new CommandError(first.type, 2, {
      message: `${counted(failed.length, "custom tool")} could not be loaded.`,
      hint: "Fix them, or omit --strict-tools.",
    });
}

export async function reportReloadedTools({ io }: Context, { tools, added, changed, removed, failed }: ReloadedTools): Promise<void> {
  for (const failure of failed) await warn(io, oneLine(failureText(failure)));
  const news = [
    ...added.map((name) => `${name} is new`),
    ...changed.map((name) => `${name} changed`),
    ...removed.map((name) => `${name} was removed`),
  ];
  const all = `${tools.length} loaded`;
  await io.stderr.write(`Reloaded custom tools: ${oneLine([...news, all].join(", "))}.\n`);
}

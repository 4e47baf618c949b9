import { dirname, join } from "node:path";
import type { LoadedAgents } from "@assent/agent";
import type { BackgroundCommands, Facts, Ledger, Registry, Rules, Tool } from "@assent/core";
import type { HookEntry } from "@assent/core/parts";
import {
  createWorkspacePolicy,
  type LoadedPolicy,
  loadSettings,
  type PolicyLocations,
  type SessionFlags,
  settingsLocations,
  type WatchedPolicy,
  type WorkspacePolicyOptions,
} from "@assent/policy";
import { createShellContainment, type LoadedTools, type ShellContainment } from "@assent/tools";
import type { Context } from "../command-line/spec.ts";
import { stateDirectory } from "../store/location.ts";
import { loadAgentDefinitions } from "./agent-definitions.ts";
import { type CustomToolsLocation, loadTools, reloadTools, reportReloadedTools, toolPaths } from "./custom-tools.ts";
import { createLiveTools, type LiveTools } from "./live-tools.ts";
import { type FoundServers, findServers } from "./mcp/find-servers.ts";
import { hostPortsFor } from "./ports.ts";
import { recordedReads } from "./recorded-reads.ts";
import { builtInTools, deferredCommands } from "./tool-registry.ts";
import { toolStamp } from "./tool-stamp.ts";

export type PolicyOptions = {
  readonly workspace: string;
  readonly policyFile?: string;
  readonly flags?: Partial<SessionFlags>;
  readonly trusted?: boolean;
  readonly readable?: () => readonly string[];
  readonly planFile?: () => string | undefined;
  readonly follow?: NonNullable<WorkspacePolicyOptions["follow"]>;
  readonly tools?: readonly string[];
  readonly mcpConfig?: readonly string[];
  readonly strictMcpConfig?: boolean;
};

export type OpenedPolicy = {
  readonly source: WatchedPolicy;
  readonly loaded: LoadedPolicy;
  readonly tools: Registry;
  readonly toolsNow: () => Registry;
  /** Reloads custom tools if requested, or if they changed and settings say so. */
  readonly reloadToolsIfDue: () => Promise<void> | undefined;
  readonly requestToolReload: () => void;
  /** MCP servers to start, and problems of their configuration. */
  readonly mcp: FoundServers;
  /** Offers these tools of MCP servers from now on. */
  readonly offerServerTools: (tools: readonly Tool[]) => void;
  readonly facts: Facts;
  readonly rules: Rules;
  readonly hooks: () => readonly HookEntry[];
  readonly workspace: string;
  readonly custom: LoadedTools;
  readonly agents: LoadedAgents;
  /** Adds what earlier processes of a session read. */
  readonly useReadsFrom: (ledger: Ledger) => void;
  readonly keepCommandsIn: (commands: BackgroundCommands) => void;
};

/** Throws `SettingsError`. Has no side effects. */
export async function openPolicy(context: Context, options: PolicyOptions): Promise<OpenedPolicy> {
  const directory = await stateDirectory(context);
  const ports = hostPortsFor(context, directory);
  const { workspace, readable, planFile, follow } = options;
  const places = policyPlaces(context, options);
  const loading: CustomToolsLocation = { ports, ...options, settings: () => loadSettings(places) };
  const { custom, live } = await loadLiveTools(context, loading, follow?.trusted);
  const agents = await loadAgentDefinitions(context, options);
  const usable = agents.agents.filter((agent) => agent.usable);
  const offered = usable.map((agent) => ({ ...agent, onlyReads: agent.level === "built-in" && agent.mode === "plan" })); // plan mode blocks every change
  const reads = recordedReads();
  const background = deferredCommands();
  const { sandbox } = loadSettings(places);
  const confining: { current?: ShellContainment } = {};
  const { source, tools, facts, rules, hooks } = createWorkspacePolicy({
    places,
    stateDirectory: directory,
    ...(readable && { readable }),
    ...(planFile && { planFile }),
    digest: ports.digest,
    commands: context.commands,
    userPath: context.io.env["PATH"],
    tools: (look, settings, asked) => {
      const containment = createShellContainment({
        ...{ workspace, home: places.home, isControl: (path) => look(path, workspace).control },
        hidden: [directory, dirname(places.userFile)],
        aside: join(directory, "set-aside"),
        writable: () => [...settings()["confined.writable"], ...settings().additionalDirectories],
      });
      confining.current = containment;
      const shared = { reads, background, agents: offered, containment, showsUnconfined: sandbox !== "off" };
      return live.beside(builtInTools(context, { ports, workspace, look, settings, ...asked, ...shared }));
    },
    probeSandbox: async () => (await confining.current?.probe()) ?? { works: false, reason: "The tools are not loaded yet." },
    ...(follow && { follow }),
  });
  const judging = { source, loaded: source.loaded(), tools, facts, rules, hooks };
  const mcp = findServers({
    ...{ workspace, readsProject: options.trusted === true && options.policyFile === undefined, given: options.mcpConfig ?? [] },
    onlyGiven: options.strictMcpConfig === true,
    settings: source.settings(),
  });
  const offerServerTools = (given: readonly Tool[]): void => {
    if (live.setServerTools(given)) source.compile();
  };
  const kept = { useReadsFrom: reads.from, keepCommandsIn: background.keptBy };
  return {
    ...judging,
    workspace,
    custom,
    agents,
    mcp,
    offerServerTools,
    toolsNow: live.now,
    ...toolReloading(context, source, live),
    ...kept,
  };
}

type LoadedLiveTools = { readonly custom: LoadedTools; readonly live: LiveTools };

async function loadLiveTools(context: Context, place: CustomToolsLocation, trusted: (() => boolean) | undefined): Promise<LoadedLiveTools> {
  const stamp = (): string => toolStamp(toolPaths(context, place));
  const loadedAt = stamp();
  const custom = await loadTools(context, place);
  const reload: Parameters<typeof createLiveTools>[0]["reload"] = (before) =>
    reloadTools(context, { ...place, ...(trusted && { trusted: trusted() }) }, before);
  return { custom, live: createLiveTools({ custom, loadedAt, stamp, reload }) };
}

/** A turn that starts during a reload waits for it. */
function toolReloading(
  context: Context,
  source: WatchedPolicy,
  live: LiveTools,
): Pick<OpenedPolicy, "reloadToolsIfDue" | "requestToolReload"> {
  let isWanted = false;
  let underWay: Promise<void> | undefined;
  const due = (): ReturnType<LiveTools["renewChanged"]> => {
    if (!isWanted) return source.settings()["tools.watch"] ? live.renewChanged() : undefined;
    isWanted = false;
    return live.renew();
  };
  const reloadToolsIfDue = (): Promise<void> | undefined => {
    if (underWay) return isWanted ? underWay.then(reloadToolsIfDue) : underWay;
    underWay = due()
      ?.then((renewed) => {
        source.compile();
        return reportReloadedTools(context, renewed);
      })
      .finally(() => {
        underWay = undefined;
      });
    return underWay;
  };
  return {
    reloadToolsIfDue,
    requestToolReload: () => {
      isWanted = true;
    },
  };
}

const NO_RULES = { allow: [], ask: [], deny: [] };

export function policyPlaces({ io }: Context, { workspace, policyFile, flags, trusted = false }: PolicyOptions): PolicyLocations {
  const session = { ...NO_RULES, ...flags, ...(policyFile !== undefined && NO_RULES) };
  return { workspace, ...settingsLocations(io.env), ...(policyFile !== undefined && { policyFile }), session, trusted };
}

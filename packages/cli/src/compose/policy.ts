import type { LoadedAgents } from "@assent/agent";
import type { BackgroundCommands, Facts, Ledger, Registry, Rules } from "@assent/core";
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
import type { LoadedTools } from "@assent/tools";
import type { Context } from "../command-line/spec.ts";
import { stateDirectory } from "../store/location.ts";
import { agentDefinitions } from "./agent-definitions.ts";
import { type CustomPlace, customTools, customToolsAgain, tellRenewedTools, toolPaths } from "./custom-tools.ts";
import { type LiveTools, liveTools } from "./live-tools.ts";
import { callPorts } from "./ports.ts";
import { recordedReads } from "./recorded-reads.ts";
import { backgroundCommands, fixedTools } from "./tool-registry.ts";
import { toolStamp } from "./tool-stamp.ts";

/** What a policy is wanted for. */
export type PolicyWish = {
  /** A real path. */
  readonly workspace: string;
  /** Read alone, instead of the layers. */
  readonly policyFile?: string;
  readonly flags: SessionFlags;
  /** Whether the workspace's own settings may loosen anything; absent: they may not. */
  readonly trusted?: boolean;
  /** Directories of the session's own output. */
  readonly readable?: () => readonly string[];
  /** The session's plan. */
  readonly planFile?: () => string | undefined;
  readonly follow?: NonNullable<WorkspacePolicyOptions["follow"]>;
  /** Modules of custom tools that were named; those of the user's and a trusted project's folders are there without being named. */
  readonly tools?: readonly string[];
};

/** A policy with all that judges by it. */
export type OpenedPolicy = {
  readonly source: WatchedPolicy;
  readonly loaded: LoadedPolicy;
  /** As they are at any time. */
  readonly tools: Registry;
  /** As they are now, for good. */
  readonly toolsNow: () => Registry;
  /** For the beginning of a turn: custom tools are loaded again where somebody wants it, or settings say so and their files changed. Undefined: nothing is to be done. */
  readonly renewTools: () => Promise<void> | undefined;
  /** A person wants custom tools to be loaded again with the next `renewTools`, whatever their files look like. */
  readonly wantTools: () => void;
  readonly facts: Facts;
  readonly rules: Rules;
  readonly hooks: () => readonly HookEntry[];
  readonly workspace: string;
  readonly custom: LoadedTools;
  readonly agents: LoadedAgents;
  /** Lets what a session read in an earlier process count. */
  readonly readsFrom: (ledger: Ledger) => void;
  /** Says who keeps commands that go on behind their calls. */
  readonly commandsKeptBy: (commands: BackgroundCommands) => void;
};

/** Reads the settings around a workspace and makes tools, facts and rules of them. Nothing is started, asked or written. Throws `SettingsError`. */
export async function openPolicy(context: Context, wish: PolicyWish): Promise<OpenedPolicy> {
  const directory = await stateDirectory(context);
  const ports = callPorts(context, directory);
  const { workspace, readable, planFile, follow } = wish;
  const places = policyPlaces(context, wish);
  const loading: CustomPlace = { ports, ...wish, settings: () => loadSettings(places) };
  const { custom, live } = await loadTools(context, loading, follow?.trusted);
  const agents = await agentDefinitions(context, wish);
  const offered = agents.agents.filter(({ usable }) => usable);
  const reads = recordedReads();
  const background = backgroundCommands();
  const { source, tools, facts, rules, hooks } = createWorkspacePolicy({
    places,
    stateDirectory: directory,
    ...(readable && { readable }),
    ...(planFile && { planFile }),
    digest: ports.digest,
    commands: context.commands,
    tools: (look, settings, asked) =>
      live.beside(fixedTools(context, { ports, workspace, look, settings, ...asked, reads, background, agents: offered })),
    ...(follow && { follow }),
  });
  const judging = { source, loaded: source.loaded(), tools, facts, rules, hooks };
  const kept = { readsFrom: reads.from, commandsKeptBy: background.keptBy };
  return { ...judging, workspace, custom, agents, toolsNow: live.now, ...renewing(context, source, live), ...kept };
}

type Custom = { readonly custom: LoadedTools; readonly live: LiveTools };

/** Tools are there before the rules that name them. */
async function loadTools(context: Context, place: CustomPlace, trusted: (() => boolean) | undefined): Promise<Custom> {
  const stamp = (): string => toolStamp(toolPaths(context, place));
  const loadedAt = stamp();
  const custom = await customTools(context, place);
  const reload: Parameters<typeof liveTools>[0]["reload"] = (before) =>
    customToolsAgain(context, { ...place, ...(trusted && { trusted: trusted() }) }, before);
  return { custom, live: liveTools({ custom, loadedAt, stamp, reload }) };
}

/** One after the other: a turn that begins while they are loaded waits for them. */
function renewing(context: Context, source: WatchedPolicy, live: LiveTools): Pick<OpenedPolicy, "renewTools" | "wantTools"> {
  let isWanted = false;
  let underWay: Promise<void> | undefined;
  const due = (): ReturnType<LiveTools["renewChanged"]> => {
    if (!isWanted) return source.settings()["tools.watch"] ? live.renewChanged() : undefined;
    isWanted = false;
    return live.renew();
  };
  const renewTools = (): Promise<void> | undefined => {
    if (underWay) return isWanted ? underWay.then(renewTools) : underWay;
    underWay = due()
      ?.then((renewed) => {
        source.compile();
        return tellRenewedTools(context, renewed);
      })
      .finally(() => {
        underWay = undefined;
      });
    return underWay;
  };
  return {
    renewTools,
    wantTools: () => {
      isWanted = true;
    },
  };
}

/** Where settings are read from. */
export function policyPlaces({ io }: Context, { workspace, policyFile, flags, trusted = false }: PolicyWish): PolicyLocations {
  const session = policyFile === undefined ? flags : { ...flags, allow: [], ask: [], deny: [] };
  return { workspace, ...settingsLocations(io.env), ...(policyFile !== undefined && { policyFile }), session, trusted };
}

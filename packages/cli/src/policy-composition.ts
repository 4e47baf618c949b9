import type { LoadedAgents } from "@assent/agent";
import type { Facts, HookEntry, Ledger, Registry, Rules } from "@assent/core";
import {
  type LoadedPolicy,
  type PolicyPlaces,
  type SessionFlags,
  settingsPlaces,
  type WatchedPolicy,
  type WorkspaceParts,
  workspacePolicy,
} from "@assent/policy";
import type { BackgroundCommands, LoadedTools } from "@assent/tools";
import { agentDefinitions } from "./agent-definitions.ts";
import { backgroundCommands } from "./background-commands.ts";
import { callPorts } from "./call-runtime.ts";
import type { Context } from "./command-spec.ts";
import { customTools } from "./custom-tools.ts";
import { recordedReads } from "./recorded-reads.ts";
import { stateDirectory } from "./store-location.ts";
import { toolRegistry } from "./tool-registry.ts";

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
  readonly follow?: NonNullable<WorkspaceParts["follow"]>;
  /** Modules of custom tools that were named; those of the user's and a trusted project's folders are there without being named. */
  readonly tools?: readonly string[];
};

/** A policy with all that judges by it. */
export type OpenedPolicy = {
  readonly source: WatchedPolicy;
  readonly loaded: LoadedPolicy;
  readonly tools: Registry;
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
  const custom = await customTools(context, { ports, ...wish });
  const own = custom.tools.map(({ tool }) => tool);
  const agents = await agentDefinitions(context, wish);
  const offered = agents.agents.filter(({ usable }) => usable);
  const reads = recordedReads();
  const background = backgroundCommands();
  const { source, tools, facts, rules, hooks } = workspacePolicy({
    places: policyPlaces(context, wish),
    stateDirectory: directory,
    ...(readable && { readable }),
    ...(planFile && { planFile }),
    digest: ports.digest,
    tools: (look, settings, asked) =>
      toolRegistry(context, { ports, workspace, look, settings, ...asked, reads, background, custom: own, agents: offered }),
    ...(follow && { follow }),
  });
  const judging = { source, loaded: source.loaded(), tools, facts, rules, hooks };
  return { ...judging, workspace, custom, agents, readsFrom: reads.from, commandsKeptBy: background.keptBy };
}

/** Where settings are read from. */
function policyPlaces({ io }: Context, { workspace, policyFile, flags, trusted = false }: PolicyWish): PolicyPlaces {
  const session = policyFile === undefined ? flags : { ...flags, allow: [], ask: [], deny: [] };
  return { workspace, ...settingsPlaces(io.env), ...(policyFile !== undefined && { policyFile }), session, trusted };
}

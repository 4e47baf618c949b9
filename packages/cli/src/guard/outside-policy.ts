import { createRegistry, type Ledger, type Registry } from "@assent/core";
import { AGENTS, type AgentName, MAPPED_TOOLS, type OutsideRun, outsideTool, type UnknownCall, unknownOutsideTool } from "@assent/guard";
import type { HostPorts } from "@assent/host";
import {
  createWorkspacePolicy,
  findWorkspace,
  refersToWorkspace,
  settingsLocations,
  UNTRUSTED_HOOK_REASON,
  type WorkspacePolicy,
} from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import type { FollowedPolicy } from "../compose/follow-policy.ts";
import { builtInTools } from "../compose/tool-registry.ts";
import { warnOfProblems } from "../desk/policy/problem-text.ts";
import { workspaceTrust } from "../desk/trust/workspace-trust.ts";
import { storeUrl } from "../store/location.ts";

/** What a hook process needs to know. */
export type OutsidePlace = {
  readonly agent: AgentName;
  readonly cwd: string;
  readonly ledger: Ledger;
  readonly ports: HostPorts;
  readonly directory: string;
};

export type OutsidePolicy = Pick<WorkspacePolicy, "source" | "tools" | "facts" | "rules" | "hooks"> &
  Pick<FollowedPolicy, "workspace" | "refusesHook">;

/** What the tools of the policy do. `tool` is added if it isn't one of Assent's. */
export type OutsideUse = { readonly call?: UnknownCall; readonly run: OutsideRun };

/** The rules of the user, the team and a trusted project, for calls that another agent runs. */
export async function openOutsidePolicy(
  context: Context,
  place: Omit<OutsidePlace, "agent"> & { readonly agent: string },
  use: OutsideUse,
): Promise<OutsidePolicy> {
  const { agent, ledger, ports, directory, cwd } = place;
  const workspace = findWorkspace(cwd, undefined);
  const trust = await workspaceTrust(context, { workspace, ledger, quiet: true });
  const policy = createOutsidePolicy(context, { workspace, ports, directory, client: agent, trusted: trust.trusted }, use);
  await warnOfProblems(context.io, policy.source.loaded().problems);
  return {
    ...policy,
    workspace,
    refusesHook: (entry) => (refersToWorkspace(entry) && !trust.stillTrusted() ? UNTRUSTED_HOOK_REASON : undefined),
  };
}

export type OutsideWorkspace = Pick<OutsidePlace, "ports" | "directory"> & {
  readonly workspace: string;
  /** Undefined: any agent, so rules that are limited to one do not count. */
  readonly client?: string | undefined;
  readonly trusted: boolean;
  readonly mode?: string;
  /** Only the rules of this file count. */
  readonly policyFile?: string;
};

/** Throws `SettingsError`. Has no side effects. */
export function createOutsidePolicy(
  context: Context,
  { workspace, ports, directory, client, trusted, mode, policyFile }: OutsideWorkspace,
  { call, run }: OutsideUse,
): WorkspacePolicy {
  return createWorkspacePolicy({
    places: {
      workspace,
      ...settingsLocations(context.io.env),
      session: { allow: [], ask: [], deny: [], ...(mode !== undefined && { mode }) },
      trusted,
      ...(policyFile !== undefined && { policyFile }),
    },
    stateDirectory: directory,
    storeUrl: storeUrl(context),
    digest: ports.digest,
    commands: context.commands,
    tools: (look, settings, asked) => outsideTools(builtInTools(context, { ports, workspace, look, settings, ...asked }), call, run),
    outside: { env: context.io.env },
    client: client ?? "another agent",
  });
}

function outsideTools(builtIn: ReturnType<typeof builtInTools>, call: OutsideUse["call"], run: OutsideRun): Registry {
  const registry = createRegistry();
  for (const tool of builtIn)
    registry.add(MAPPED_TOOLS.includes(tool.name) ? outsideTool(tool, run) : unknownOutsideTool({ tool: tool.name, kind: "other" }, run));
  if (call && !registry.get(call.tool)) registry.add(unknownOutsideTool(call, run));
  return registry;
}

/** For judging recorded or written calls: every name is a tool. */
export function withUnknownTools(tools: Registry, run: OutsideRun): Registry {
  return { ...tools, get: (tool) => tools.get(tool) ?? unknownOutsideTool({ tool, kind: "other" }, run) };
}

export function agentTitle(name: AgentName): string {
  return AGENTS[name].title;
}

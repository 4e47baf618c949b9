import { createRegistry, type Ledger, type Registry } from "@assent/core";
import { AGENTS, type AgentName, type OutsideCall, type OutsideRun, outsideTool, unknownOutsideTool } from "@assent/guard";
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

/** The call that the policy is for, and what its tool does. With `policyFile`, only the rules of that file count. */
export type OutsideUse = { readonly call: Pick<OutsideCall, "tool" | "kind">; readonly run: OutsideRun; readonly policyFile?: string };

/** The rules of the user, the team and a trusted project, for calls that another agent runs. */
export async function openOutsidePolicy(
  context: Context,
  place: Omit<OutsidePlace, "agent">,
  { call, run, policyFile }: OutsideUse,
): Promise<OutsidePolicy> {
  const { ledger, ports, directory, cwd } = place;
  const workspace = findWorkspace(cwd, undefined);
  const trust = await workspaceTrust(context, { workspace, ledger, quiet: true });
  const policy = createWorkspacePolicy({
    places: {
      workspace,
      ...settingsLocations(context.io.env),
      session: { allow: [], ask: [], deny: [] },
      trusted: trust.trusted,
      ...(policyFile !== undefined && { policyFile }),
    },
    stateDirectory: directory,
    digest: ports.digest,
    commands: context.commands,
    tools: (look, settings, asked) => outsideTools(builtInTools(context, { ports, workspace, look, settings, ...asked }), call, run),
    outside: true,
  });
  await warnOfProblems(context.io, policy.source.loaded().problems);
  return {
    ...policy,
    workspace,
    refusesHook: (entry) => (refersToWorkspace(entry) && !trust.stillTrusted() ? UNTRUSTED_HOOK_REASON : undefined),
  };
}

function outsideTools(builtIn: ReturnType<typeof builtInTools>, call: OutsideUse["call"], run: OutsideRun): Registry {
  const registry = createRegistry();
  for (const tool of builtIn) registry.add(outsideTool(tool, run));
  if (!registry.get(call.tool)) registry.add(unknownOutsideTool(call.tool, call.kind, run));
  return registry;
}

export function agentTitle(name: AgentName): string {
  return AGENTS[name].title;
}

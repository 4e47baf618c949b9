import { dirname, join } from "node:path";
import { builtInAgentsFolder, type LoadedAgents, loadAgents } from "@assent/agent";
import { settingsLocations } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";

export type AgentLocation = {
  readonly workspace: string;
  readonly trusted?: boolean;
  readonly policyFile?: string;
};

export async function loadAgentDefinitions(
  { io }: Pick<Context, "io">,
  { workspace, trusted = false, policyFile }: AgentLocation,
): Promise<LoadedAgents> {
  const own = [
    { path: join(workspace, ".assent", "agents"), level: "project" },
    { path: join(dirname(settingsLocations(io.env).userFile), "agents"), level: "user" },
  ] as const;
  const folders = [...(policyFile === undefined ? own : []), { path: builtInAgentsFolder(), level: "built-in" } as const];
  return loadAgents({ folders, workspace, trusted });
}

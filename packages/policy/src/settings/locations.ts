import { isAbsolute, join } from "node:path";
import type { Scope } from "@assent/core";
import { resolveHome } from "../paths/resolve.ts";

/** Flags of this run. */
export type SessionFlags = {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
  readonly mode?: string;
  readonly additionalDirectories?: readonly string[];
  readonly onAsk?: string;
};

/** Where a policy is read from. */
export type PolicyLocations = {
  readonly workspace: string;
  readonly home: string;
  /** If given, no other file and no rule flag counts. */
  readonly policyFile?: string;
  readonly userFile: string;
  readonly teamFile: string;
  readonly session: SessionFlags;
  readonly trusted: boolean;
  /** `session` holds the rules of an embedding program, which may add tools later. No file but `policyFile` is read. */
  readonly program?: true;
};

export type LayerSource = {
  readonly scope: Exclude<Scope, "session">;
  readonly label: string;
  readonly file: string;
  /** Where `/x` starts. */
  readonly root: string;
  /** The only user who may write it. */
  readonly owner?: number;
  readonly required?: true;
};

export type LayerOwners = { readonly user: number | undefined; readonly team: number };

export function listLayerSources(
  { workspace, home, policyFile, userFile, teamFile, program }: PolicyLocations,
  owners: LayerOwners,
): readonly LayerSource[] {
  if (policyFile !== undefined) return [{ scope: "policy", label: "policy file", file: policyFile, root: workspace, required: true }];
  if (program) return [];
  const user: LayerSource = { scope: "user", label: "user permissions", file: userFile, root: home };
  return [
    { scope: "project", label: "project permissions", file: projectSettingsFile(workspace), root: workspace },
    owners.user === undefined ? user : { ...user, owner: owners.user },
    { scope: "team", label: "permissions configuration", file: teamFile, root: home, owner: owners.team },
  ];
}

/** A workspace's settings file. */
export function projectSettingsFile(workspace: string): string {
  return join(workspace, ".assent", "settings.json");
}

/** Paths of the user's and the team's settings, independent of the workspace. */
export function settingsLocations(
  env: Readonly<Record<string, string | undefined>>,
  home: string = resolveHome(env["HOME"]),
): { readonly userFile: string; readonly teamFile: string; readonly home: string } {
  const { XDG_CONFIG_HOME: config } = env;
  const user = config && isAbsolute(config) ? config : join(home, ".config");
  return { userFile: join(user, "assent", "settings.json"), teamFile: "/etc/assent/settings.json", home };
}

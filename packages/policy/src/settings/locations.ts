import { isAbsolute, join } from "node:path";
import type { Scope } from "@assent/core";
import { resolveHome } from "../paths/resolve.ts";

/** What the flags of this run say. */
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
  /** A real path. */
  readonly workspace: string;
  readonly home: string;
  /** Read alone: with it no other file and no rule of a flag counts. */
  readonly policyFile?: string;
  readonly userFile: string;
  readonly teamFile: string;
  readonly session: SessionFlags;
  readonly trusted: boolean;
};

/** One file that may hold settings. */
export type LayerSource = {
  readonly scope: Exclude<Scope, "session">;
  readonly label: string;
  readonly file: string;
  /** What `/x` of a path starts from. */
  readonly root: string;
  /** The only user that may be able to write it; undefined: whoever owns the workspace may. */
  readonly owner?: number;
  /** A file that was asked for by name must be there. */
  readonly required?: true;
};

/** Users whose files may hold settings for this process. */
export type LayerOwners = { readonly user: number | undefined; readonly team: number };

/** The files of a policy in the order in which their single values count. */
export function listLayerSources(
  { workspace, home, policyFile, userFile, teamFile }: PolicyLocations,
  owners: LayerOwners,
): readonly LayerSource[] {
  if (policyFile !== undefined) return [{ scope: "policy", label: "policy file", file: policyFile, root: workspace, required: true }];
  const user: LayerSource = { scope: "user", label: "user permissions", file: userFile, root: home };
  return [
    { scope: "project", label: "project permissions", file: projectSettingsFile(workspace), root: workspace },
    owners.user === undefined ? user : { ...user, owner: owners.user },
    { scope: "team", label: "permissions configuration", file: teamFile, root: home, owner: owners.team },
  ];
}

/** A workspace's own settings. */
export function projectSettingsFile(workspace: string): string {
  return join(workspace, ".assent", "settings.json");
}

/** Where the user's and the team's settings lie; no file of a workspace has a say in it. */
export function settingsLocations(
  env: Readonly<Record<string, string | undefined>>,
  home: string = resolveHome(env["HOME"]),
): { readonly userFile: string; readonly teamFile: string; readonly home: string } {
  const { XDG_CONFIG_HOME: config } = env;
  const user = config && isAbsolute(config) ? config : join(home, ".config");
  return { userFile: join(user, "assent", "settings.json"), teamFile: "/etc/assent/settings.json", home };
}

import { AgentConfigError, createJudgeOnlyRun, readConfig } from "@assent/guard";
import { findWorkspace, projectSettingsFile, SettingsError, settingsLocations } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { hostPortsFor } from "../compose/ports.ts";
import { workspaceTrust } from "../desk/trust/workspace-trust.ts";
import { stateDirectory } from "../store/location.ts";
import { createOutsidePolicy } from "./outside-policy.ts";
import { readText } from "./read-text.ts";

/** A settings file that exists. */
export type PolicyFile = {
  readonly layer: "team" | "user" | "project";
  readonly path: string;
  /** The file's `policyVersion`. */
  readonly version: string | null;
  /** SHA-256 of the file. */
  readonly digest: string;
};

export type PolicyStatus = {
  readonly files: readonly PolicyFile[];
  /** Why no call can be decided, so that hooks deny every call. */
  readonly problem: string | null;
  /** The digest of everything in these files that decides about calls. The record has it with each call. */
  readonly revision: string | null;
};

/** The policy that decides about calls of guarded agents in this directory. An untrusted project's file counts only where it is stricter. */
export async function policyStatus(context: Context): Promise<PolicyStatus> {
  const directory = await stateDirectory(context);
  const ports = hostPortsFor(context, directory);
  const workspace = findWorkspace(context.io.cwd, undefined);
  const { teamFile, userFile } = settingsLocations(context.io.env);
  const paths = { team: teamFile, user: userFile, project: projectSettingsFile(workspace) };
  const files = (["team", "user", "project"] as const).flatMap((layer): readonly PolicyFile[] => {
    const text = readText(paths[layer]);
    return text === null ? [] : [{ layer, path: paths[layer], version: versionOf(text), digest: ports.digest.sha256(text) }];
  });
  const { trusted } = await workspaceTrust(context, { workspace, quiet: true });
  try {
    const policy = createOutsidePolicy(context, { workspace, ports, directory, trusted }, { run: createJudgeOnlyRun("an agent") });
    return { files, revision: policy.source.current().revision, problem: null };
  } catch (error) {
    if (error instanceof SettingsError) return { files, revision: null, problem: error.message };
    throw error;
  }
}

/** The `policyVersion` of a settings text. */
export function versionOf(settings: string): string | null {
  try {
    const { policyVersion } = readConfig(settings);
    return typeof policyVersion === "string" ? policyVersion : null;
  } catch (error) {
    if (error instanceof AgentConfigError) return null;
    throw error;
  }
}

import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { canonicalJson } from "@assent/core";
import { type ConfigurationFile, configurationFiles, type FoundFiles } from "./configuration-files.ts";

/** All that a workspace says about how Assent should behave, as it was at one moment. */
export type ProjectConfiguration = FoundFiles & {
  /** A real path. */
  readonly workspace: string;
  /** Which directory it is: another one under the same path is another workspace. */
  readonly device: string;
  readonly inode: string;
  /** Over the names and bytes of all files. */
  readonly digest: string;
};

/** Reads the configuration of the workspace with this real path. It looks at that directory alone: no parent, no `.git`, no other worktree has a say. */
export function projectConfiguration(workspace: string): ProjectConfiguration {
  const { dev, ino } = statSync(workspace, { bigint: true });
  const found = configurationFiles(workspace);
  return { ...found, workspace, device: String(dev), inode: String(ino), digest: digestOf(found.files) };
}

function digestOf(files: readonly ConfigurationFile[]): string {
  return sha256(canonicalJson(files.map(({ name, bytes }) => [name, sha256(bytes)])));
}

function sha256(value: string | Uint8Array): string {
  return createHash("sha256").update(value).digest("hex");
}

import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "@assent/core";
import { CONFIGURATION_LIMITS, type ConfigurationFile } from "./project-configuration.ts";

/** Names of instruction files, in order of precedence. */
export const INSTRUCTION_NAMES: readonly string[] = ["AGENTS.md", "CLAUDE.md"];

const SKIPPED_DIRECTORIES: readonly string[] = [".git", ".assent", "node_modules"];

const MAX_DIRECTORIES = 20_000;
const MAX_INSTRUCTION_BYTES = 1024 * 1024;

/** True for a nested repository, submodule, worktree, or a directory with its own configuration. */
export function isNestedWorkspace(directory: string): boolean {
  return existsSync(join(directory, ".git")) || existsSync(join(directory, ".assent"));
}

/** Finds instruction files below the root, for the moment a person trusts it. Follows no links and stops at limits. */
export function findNestedInstructions(workspace: string): readonly ConfigurationFile[] {
  const found: ConfigurationFile[] = [];
  const left: PendingDirectory[] = [{ name: "", depth: 0 }];
  for (let looked = 0; looked < MAX_DIRECTORIES && found.length < CONFIGURATION_LIMITS.files; looked += 1) {
    const next = left.shift();
    if (!next) break;
    const entries = entriesOf(join(workspace, next.name));
    left.push(...below(workspace, next, entries));
    if (next.name !== "") found.push(...instructionsIn(workspace, next, entries));
  }
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

type PendingDirectory = { readonly name: string; readonly depth: number };

function below(workspace: string, { name: parent, depth }: PendingDirectory, entries: readonly Dirent[]): readonly PendingDirectory[] {
  if (depth === CONFIGURATION_LIMITS.depth) return [];
  const directories = entries.filter((entry) => entry.isDirectory() && !SKIPPED_DIRECTORIES.includes(entry.name));
  const names = directories.map(({ name }) => (parent === "" ? name : `${parent}/${name}`));
  return names.filter((name) => !isNestedWorkspace(join(workspace, name))).map((name) => ({ name, depth: depth + 1 }));
}

function instructionsIn(workspace: string, { name: parent }: PendingDirectory, entries: readonly Dirent[]): readonly ConfigurationFile[] {
  const names = entries.filter((entry) => entry.isFile() && INSTRUCTION_NAMES.includes(entry.name)).map(({ name }) => `${parent}/${name}`);
  const small = names.filter((name) => statSync(join(workspace, name)).size <= MAX_INSTRUCTION_BYTES);
  return small.map((name) => ({ name, bytes: readFileSync(join(workspace, name)) }));
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) !== undefined) return [];
    throw error;
  }
}

import { constants } from "node:fs";
import { access, type FileHandle, lstat, open, realpath, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode, type PlanFiles, ToolError } from "@assent/core";
import { ignoreCodes } from "../system/ignore-codes.ts";
import { openNew } from "./open.ts";
import { syncDirectory } from "./replace.ts";

const MAX_BYTES = 256 * 1024;

/** Plan files of this machine. */
export function createHostPlanFiles(): PlanFiles {
  return { read: readPlan, isTaken, keepAs: renamePlan };
}

/** Where a session's plan goes: its workspace, or the state directory if the workspace is not writable. */
export async function findPlanFile(
  places: { readonly workspace: string; readonly stateDirectory: string },
  session: string,
): Promise<string> {
  const { workspace, stateDirectory } = places;
  const name = `${session}.md`;
  for (const directory of [".assent/plans", ".assent", "."]) {
    const writable = await isWritable(join(workspace, directory));
    if (writable === true) return join(workspace, ".assent/plans", name);
    if (writable === false) break;
  }
  return join(await realpath(stateDirectory).catch(() => stateDirectory), "plans", name);
}

/** Undefined: no such directory. */
async function isWritable(directory: string): Promise<boolean | undefined> {
  try {
    await access(directory, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    return errorCode(error) === "ENOENT" ? undefined : false;
  }
}

async function readPlan(path: string): Promise<string | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return undefined;
    if (errorCode(error) === "ELOOP") throw notPlainFile(path);
    throw error;
  }
  try {
    return await readPlanText(handle, path);
  } finally {
    await handle.close();
  }
}

async function readPlanText(handle: FileHandle, path: string): Promise<string> {
  const stats = await handle.stat();
  if (!stats.isFile() || stats.nlink > 1 || (await realpath(path)) !== path) throw notPlainFile(path);
  const bytes = Buffer.alloc(MAX_BYTES + 1);
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
  if (bytesRead > MAX_BYTES) throw new ToolError(`The plan at ${path} has more than 256 KiB. Make it shorter.`, "file_too_large");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, bytesRead));
  } catch (cause) {
    throw new ToolError(`The plan at ${path} is not UTF-8 text.`, "read_content_failure", { cause });
  }
}

function notPlainFile(path: string): ToolError {
  return new ToolError(
    `The plan at ${path} is not a plain file: it is a link, has other hard links, or is not a file.`,
    "target_not_regular_file",
  );
}

async function isTaken(path: string): Promise<boolean> {
  return (await lstat(path).catch(ignoreCodes("ENOENT"))) !== undefined;
}

/** Reserves the new name first, so that no other file is overwritten. */
async function renamePlan(from: string, to: string): Promise<boolean> {
  try {
    const handle = await openNew(to);
    await handle.close();
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
  try {
    await rename(from, to);
  } catch (error) {
    await unlink(to);
    throw error;
  }
  await syncDirectory(dirname(to));
  return true;
}

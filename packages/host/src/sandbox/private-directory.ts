import { cpSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { errorCode } from "@assent/core";
import { PRIVATE_HOME } from "./confine-program.ts";

const directories = new Set<string>();

/** Creates the private directory of a session, which is removed when this process exits. */
export function createPrivateDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "assent-private-")));
  mkdirSync(join(directory, PRIVATE_HOME));
  if (directories.size === 0) process.once("exit", removeAll);
  directories.add(directory);
  return directory;
}

function removeAll(): void {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}

/** Moves files that a confined command must not create out of the way, to a directory that stays. Returns where each is now. */
export function setAside(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const place = mkdtempSync(join(tmpdir(), "assent-set-aside-"));
  return paths.map((path, index) => {
    const to = join(place, `${index}-${basename(path)}`);
    try {
      renameSync(path, to);
    } catch (error) {
      if (errorCode(error) !== "EXDEV") throw error;
      cpSync(path, to, { recursive: true, verbatimSymlinks: true });
      rmSync(path, { recursive: true, force: true });
    }
    return to;
  });
}

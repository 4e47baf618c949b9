import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

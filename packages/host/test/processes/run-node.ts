import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Runs a module text in a Node of its own; `before` is shell text that prepares the process, such as limits. */
export async function runNode(source: string, before = ""): Promise<string> {
  const node = [process.execPath, "--conditions=@assent/source", "--input-type=module", "-e", source];
  const { stdout } = await promisify(execFile)("/bin/bash", ["-c", `${before}\nexec "$@"`, "bash", ...node], {
    cwd: import.meta.dirname,
    timeout: 60_000,
  });
  return stdout;
}

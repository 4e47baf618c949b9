import { spawn } from "node:child_process";
import { once } from "node:events";

/** Makes pipes with names, which only their owner may open. Node cannot by itself. */
export async function makeFifos(paths: readonly string[]): Promise<void> {
  const child = spawn("mkfifo", ["-m", "600", ...paths], { stdio: "ignore", env: { PATH: "/usr/bin:/bin:/usr/local/bin" } });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`mkfifo ended with ${code}.`);
}

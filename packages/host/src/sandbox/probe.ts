import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { messageOf, type Processes } from "@assent/core";
import { createHostProcesses } from "../processes/processes.ts";
import { type Confinement, confineProgram, PRIVATE_HOME, type SandboxProgram } from "./confine-program.ts";
import { createSystemCallFilter } from "./seccomp.ts";
import { listVisibleRoots } from "./visible-roots.ts";

/** Whether commands can be confined on this machine: how, or the exact reason why not. */
export type SandboxProbe = { readonly works: true; readonly sandbox: SandboxProgram } | { readonly works: false; readonly reason: string };

/** For tests and unusual machines. */
export type SandboxProbeOptions = {
  readonly processes?: Processes;
  /** Where to look for `bwrap`. */
  readonly directories?: readonly string[];
  readonly platform?: string;
  readonly processor?: string;
};

/** Never the search path, where a command could have put its own `bwrap`. */
const PROGRAM_DIRECTORIES = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"];

const PROBE_MS = 10_000;

/** Finds out whether commands can be confined, by running a real one in a temporary directory. Never rejects. */
export async function probeSandbox(options: SandboxProbeOptions = {}): Promise<SandboxProbe> {
  const { processes = createHostProcesses(), directories = PROGRAM_DIRECTORIES } = options;
  const { platform = process.platform, processor = process.arch } = options;
  if (platform !== "linux") return { works: false, reason: `Commands can be confined only on Linux; this is ${platform}.` };
  const file = directories.map((directory) => join(directory, "bwrap")).find(isExecutable);
  if (file === undefined)
    return {
      works: false,
      reason: "Bubblewrap is not installed. Install the package bubblewrap (apt, dnf, pacman, apk and zypper have it).",
    };
  const filter = createSystemCallFilter(processor);
  const full: SandboxProgram = { file, disablesUserNamespaces: true, ...(filter && { filter }) };
  const first = await tryOut(full, processes);
  if (first.works || !filter || !/disable.userns|max_user_namespaces/i.test(first.reason)) return first;
  return await tryOut({ ...full, disablesUserNamespaces: false }, processes); // the filter refuses new namespaces as well
}

/** Writes in the workspace and must fail to write outside. */
const TRIAL = 'echo inside > "$1/written" && ! echo outside 2>/dev/null > "$2/written" && ! echo outside 2>/dev/null > /usr/.assent-probe';

async function tryOut(sandbox: SandboxProgram, processes: Processes): Promise<SandboxProbe> {
  let directory: string | undefined;
  try {
    directory = realpathSync(mkdtempSync(join(tmpdir(), "assent-probe-")));
    const [workspace, outside, temporary] = ["workspace", "outside", "tmp"].map((name) => join(directory ?? "", name)) as [
      string,
      string,
      string,
    ];
    for (const path of [workspace, outside, join(temporary, PRIVATE_HOME)]) mkdirSync(path, { recursive: true });
    const home = "/home";
    const confinement: Confinement = {
      ...{ sandbox, workspace, temporary, home, roots: listVisibleRoots("/usr/bin:/bin", home) },
      ...{ writable: [], readOnly: [], masked: [], network: false },
    };
    const spec = { file: "/bin/sh", args: ["-c", TRIAL, "sh", workspace, outside], cwd: workspace, env: { PATH: "/usr/bin:/bin" } };
    const confine: NonNullable<Parameters<Processes["run"]>[0]["confine"]> = (program) => confineProgram(program, confinement);
    const end = await processes.run({ ...spec, timeoutMs: PROBE_MS, confine }, new AbortController().signal);
    if (end.ended !== "exit") return { works: false, reason: `Bubblewrap did not finish within ${PROBE_MS / 1000} seconds.` };
    if (end.exitCode !== 0)
      return { works: false, reason: `A trial command was not confined as expected (exit ${end.exitCode}). ${end.output}`.trim() };
    if (readFileSync(join(workspace, "written"), "utf8") !== "inside\n")
      return { works: false, reason: "A trial command could not write in its workspace." };
    return { works: true, sandbox };
  } catch (error) {
    return { works: false, reason: messageOf(error) };
  } finally {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return isAbsolute(file);
  } catch {
    return false;
  }
}

import { lstatSync, mkdirSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { type ConfinedStart, errorCode } from "@assent/core";
import { compareTrees, type TreeComparison } from "./compare-trees.ts";
import { makeBase, markTime, SYSTEM_ENV, type ViewParts, type WorkspaceView } from "./workspace-view.ts";

/** Ends with Assent, and after an hour in any case. */
const HOLD = 'mount -t overlay -o "$0" overlay "$1" && echo ready && exec setpriv --pdeathsig KILL sleep 3600';

/**
 * Mounts the workspace below an empty layer, in namespaces of their own that a process holds open. Unlike a copy, it refuses to rename directories of the
 * workspace, and hard links of a changed file keep the old content.
 */
export async function openOverlay(parts: ViewParts, signal: AbortSignal): Promise<WorkspaceView> {
  const { processes, workspace } = parts;
  const { base, temporary, close: removeBase } = await makeBase(parts);
  const [upper, work, merged] = ["upper", "work", "merged"].map((name) => join(base, name)) as [string, string, string];
  for (const path of [upper, work, merged]) mkdirSync(path);
  const startedAt = markTime(join(base, "started"));
  const options = [
    `lowerdir=${escapeOption(workspace)}`,
    `upperdir=${escapeOption(upper)}`,
    `workdir=${escapeOption(work)}`,
    "userxattr",
    "volatile",
  ].join(",");
  const holding = new AbortController();
  const ready = Promise.withResolvers<number>();
  let pid = 0;
  const held = processes.run(
    {
      file: "/usr/bin/unshare",
      args: ["--user", "--map-current-user", "--keep-caps", "--mount", "/bin/sh", "-c", HOLD, options, merged],
      ...{ cwd: "/", env: SYSTEM_ENV },
      onStart: async (process) => {
        pid = process.pid;
      },
      onOutput: (chunk) => {
        if (chunk.includes("ready")) ready.resolve(pid);
      },
    },
    AbortSignal.any([holding.signal, signal]),
  );
  const close = async (): Promise<void> => {
    holding.abort();
    await held.catch(() => undefined);
    await removeBase();
  };
  held.then(
    ({ output }) => ready.reject(new Error(output.trim().split("\n").at(-1) || "the overlay could not be mounted")),
    (error: unknown) => ready.reject(error),
  );
  try {
    const holder = await ready.promise;
    const path = `/proc/${holder}/root${merged}`;
    readdirSync(path); // fails here if this process may not look into the namespace
    const launch = (start: ConfinedStart): ConfinedStart => ({ ...start, ...enterNamespaces(holder, start) });
    return {
      how: "overlay",
      from: merged,
      path,
      temporary,
      launch,
      compare: (limit) => compareLayers({ workspace, path, upper, startedAt }, limit),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Commas and colons separate options and layers. */
function escapeOption(path: string): string {
  return path.replace(/[\\:,]/g, "\\$&");
}

function enterNamespaces(holder: number, { file, args }: ConfinedStart): Pick<ConfinedStart, "file" | "args"> {
  return { file: "/usr/bin/nsenter", args: ["--user", "--preserve-credentials", "--mount", "--target", `${holder}`, "--", file, ...args] };
}

type Layers = { readonly workspace: string; readonly path: string; readonly upper: string; readonly startedAt: number };

/** The upper layer says where to look; the merged view says what is there. */
function compareLayers({ workspace, path: view, upper, startedAt }: Layers, limit: number): Promise<TreeComparison> {
  const inUpper = (path: string): Stats | undefined => lstatSync(join(upper, path), { throwIfNoEntry: false });
  const namesIn = (path: string): readonly string[] => {
    try {
      return readdirSync(join(upper, path));
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return [];
      throw error;
    }
  };
  return compareTrees(
    {
      lower: workspace,
      view,
      isTouched: (path) => inUpper(path) !== undefined,
      isForeign: (stats) => stats.ctimeMs >= startedAt,
      namesIn,
    },
    limit,
  );
}

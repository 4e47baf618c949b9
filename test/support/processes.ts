import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

export type LiveProcess = { readonly pid: number; readonly pgid: number; readonly command: string };

/** Every process of this machine that can still act, from /proc or, where there is none, from `ps`. Zombies are left out. */
export function liveProcesses(): readonly LiveProcess[] {
  if (!existsSync("/proc/self/stat")) return fromPs();
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => fromProc(Number(name)));
}

function fromProc(pid: number): readonly LiveProcess[] {
  try {
    const [, state, , pgid] = /\) (\S) (\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return state === "Z" ? [] : [{ pid, pgid: Number(pgid), command }];
  } catch {
    return []; // it ended meanwhile
  }
}

function fromPs(): readonly LiveProcess[] {
  const { stdout } = spawnSync("ps", ["-eo", "pid=,pgid=,stat=,args="], { encoding: "utf8" });
  return stdout.split("\n").flatMap((line) => {
    const [, pid, pgid, state = "Z", command = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return state.startsWith("Z") ? [] : [{ pid: Number(pid), pgid: Number(pgid), command }];
  });
}

import { hostname } from "node:os";
import type { SessionGroup } from "@assent/core";
import { WRAPPER_NAME } from "@assent/guard";
import { listAncestors, processStart } from "@assent/host";

/** Agents start hooks through shells and our wrapper script, which end with the hook. */
const SHELLS: ReadonlySet<string> = new Set([WRAPPER_NAME, "sh", "dash", "bash", "zsh", "ksh", "ash", "busybox", "fish"]);

/** The first process above this one that is not a shell; undefined if there is none. */
export function findAgentProcess(): SessionGroup["process"] {
  const [, ...above] = listAncestors();
  const found = above.find(({ name, pid }) => pid > 1 && !SHELLS.has(name.replace(/^-/, "")));
  return found && { pid: found.pid, host: hostname(), processStart: found.start };
}

/** Whether an agent still runs; undefined if this machine cannot know. */
export function agentLives({ process: agent }: SessionGroup): boolean | undefined {
  return agent?.host === hostname() ? processStart(agent.pid) === agent.processStart : undefined;
}

import { readdirSync, readFileSync } from "node:fs";

/** A wrapper script that an agent started before a call. `assent` is the Node process behind it, if it has started and not ended. */
export type HookProcess = { readonly wrapper: number; readonly assent: number | undefined };

/** The hooks that run now below an agent and decide about a call. */
export function decidingHooks(agent: number): readonly HookProcess[] {
  return childrenOf(agent).flatMap((pid) => (isDecidingHook(pid) ? [{ wrapper: pid, assent: findAssent(pid) }] : decidingHooks(pid)));
}

/** An agent and the processes below it, without its hooks. */
export function agentProcesses(agent: number): readonly number[] {
  return [agent, ...childrenOf(agent).flatMap((pid) => (/\/assent-hook\0/.test(commandOf(pid)) ? [] : agentProcesses(pid)))];
}

/** A wrapper and everything below it. */
export function hookTree(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(hookTree)];
}

/** False for a process that ended, even if its parent has not asked for its status. */
export function isRunning(pid: number): boolean {
  return commandOf(pid) !== "";
}

function isDecidingHook(pid: number): boolean {
  return /^\S*sh\0\S*\/assent-hook\0\w+\0decide\0/.test(commandOf(pid));
}

function findAssent(wrapper: number): number | undefined {
  return childrenOf(wrapper).find((pid) => /\0hook\0/.test(commandOf(pid)));
}

function childrenOf(pid: number): readonly number[] {
  return readProcess(() =>
    readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readProcess(() => numbers(readFileSync(`/proc/${pid}/task/${task}/children`, "utf8"))),
    ),
  );
}

function numbers(text: string): readonly number[] {
  return text.split(" ").filter(Boolean).map(Number);
}

/** Empty for a process that ended meanwhile. */
function readProcess<Value>(read: () => readonly Value[]): readonly Value[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function commandOf(pid: number): string {
  return readProcess(() => [readFileSync(`/proc/${pid}/cmdline`, "utf8")])[0] ?? "";
}

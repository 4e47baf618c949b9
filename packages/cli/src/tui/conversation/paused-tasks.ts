import type { Tasks } from "@assent/agent";
import { oneLine } from "../../io/visible-text.ts";
import type { Block } from "../transcript/block.ts";
import { pausedWords } from "../transcript/task-ends.ts";

/** Lets every paused background agent go on that can. Resolves with what became of each. */
export async function resumePaused(tasks: Tasks): Promise<readonly Block[]> {
  const blocks: Block[] = [];
  for (const { id, agent, description, status, resumable, blockedReason } of tasks.list()) {
    if (status !== "paused") continue;
    const refused =
      resumable === false ? `stays paused: ${pausedWords(blockedReason ?? "restart")}` : (await tasks.resume(id, "person"))?.message;
    const text = `${id}  ${oneLine(agent)}: ${oneLine(description)} ${refused ?? "resumed"}`;
    blocks.push({ type: "note", text, role: refused === undefined ? "dim" : "warning" });
  }
  return blocks;
}

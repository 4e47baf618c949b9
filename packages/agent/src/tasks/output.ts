import { contentText, type Session } from "@assent/core";
import { sharedToolName } from "@assent/core/parts";
import { loopHookInput } from "../loop/turn/hooks.ts";
import type { TaskBoard, TaskEntry } from "./board.ts";

const SHOWN = 8_000;
const EVENT = "tool_response_transform";
const FAILED = "Tool output withheld: a tool_response_transform hook failed.";
const LEFT_TO_HOOKS = "(Hooks may change its output. Use task_output to read it.)";

export type OutputReader = { readonly session: Session; readonly signal: AbortSignal };

/** The end of a task's output for the model. Output of a command passes the result hooks of its tool. */
export async function showOutput(board: TaskBoard, entry: TaskEntry, reader: OutputReader): Promise<string> {
  const written = entry.progress.output();
  const text = entry.command && written !== "" ? await transformOutput(board, entry, { ...reader, written }) : written;
  const shown = text.slice(-SHOWN).replace(/^[\udc00-\udfff]/, "");
  return shown === "" ? "(no output)" : shown;
}

/** Hooks see the whole output, before it is cut. */
async function transformOutput(
  { deps: { hooks, clock } }: TaskBoard,
  { agent: tool, callId, prompt: command, startedAt, endedAt }: TaskEntry,
  { session, signal, written }: OutputReader & { readonly written: string },
): Promise<string> {
  const until = endedAt === undefined ? clock.now() : Date.parse(endedAt);
  const input = {
    ...loopHookInput({ session }, EVENT),
    tool_name: sharedToolName(tool),
    tool,
    tool_use_id: callId ?? "",
    tool_kind: "execute",
    tool_input: { command, run_in_background: true },
    tool_response: written,
    tool_error: false,
    duration_ms: Math.max(0, until - Date.parse(startedAt)),
  };
  try {
    const answer = await hooks?.consult(EVENT, input, signal);
    if (answer?.verdict === "deny") return FAILED;
    return answer?.updatedOutput === undefined ? written : contentText(answer.updatedOutput);
  } catch {
    return FAILED;
  }
}

/** The output in a task's notice. If a hook may change it, the notice leaves it out. */
export function outputForNotice({ deps: { hooks } }: TaskBoard, { command, agent: tool }: TaskEntry, text: string): string {
  const mayChange = hooks !== undefined && hooks.applies?.(EVENT, tool) !== false;
  return command && mayChange ? LEFT_TO_HOOKS : text;
}

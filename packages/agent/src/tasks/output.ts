import { contentText, type Session } from "@assent/core";
import { sessionHookInput, sharedToolName } from "@assent/core/parts";
import type { TaskBoard, TaskEntry } from "./board.ts";

const SHOWN = 8_000;
const EVENT = "tool_response_transform";
const FAILED = "Tool output withheld: a tool_response_transform hook failed.";
const LEFT_TO_HOOKS = "(What it wrote is left to hooks: task_output shows it.)";

/** Who wants to see what a task has written. */
export type Reader = { readonly session: Session; readonly signal: AbortSignal };

/** The end of what a task has written, as the model may see it: of a command it is what hooks make of a result of the tool that ran it. */
export async function shownOutput(board: TaskBoard, entry: TaskEntry, reader: Reader): Promise<string> {
  const written = entry.progress.output();
  const text = entry.command && written !== "" ? await transformed(board, entry, { ...reader, written }) : written;
  const shown = text.slice(-SHOWN).replace(/^[\udc00-\udfff]/, "");
  return shown === "" ? "(no output)" : shown;
}

/** All of it is looked at, so that no cut hides from a hook what it would have known. */
async function transformed(
  { deps: { hooks, clock } }: TaskBoard,
  { agent: tool, callId, prompt: command, startedAt, endedAt }: TaskEntry,
  { session: { id: sessionId, state }, signal, written }: Reader & { readonly written: string },
): Promise<string> {
  const until = endedAt === undefined ? clock.now() : Date.parse(endedAt);
  const input = {
    ...sessionHookInput({ sessionId, mode: state.mode, ...(state.created && { cwd: state.created.cwd }) }, EVENT),
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
    const said = await hooks?.consult(EVENT, input, signal);
    if (said?.verdict === "deny") return FAILED;
    return said?.updatedOutput === undefined ? written : contentText(said.updatedOutput);
  } catch {
    return FAILED;
  }
}

/** What the notice of a task's end tells of what it wrote: what a hook may take out is told by a result alone, which passes that hook. */
export function toldOutput({ deps: { hooks } }: TaskBoard, { command, agent: tool }: TaskEntry, text: string): string {
  const mayChange = hooks !== undefined && hooks.applies?.(EVENT, tool) !== false;
  return command && mayChange ? LEFT_TO_HOOKS : text;
}

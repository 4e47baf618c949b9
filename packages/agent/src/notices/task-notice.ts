import { cutToWidth, type EventBodies, oneLine, type TaskStatus, type TaskUsage } from "@assent/core";
import { escapeXml } from "../loop/steering/reminder.ts";

export type EndedTask = {
  readonly id: string;
  readonly agent: string;
  readonly description: string;
  readonly callId: string | null;
  readonly status: TaskStatus;
  /** The final text, or a partial one. */
  readonly result: string;
  /** Without "Error:". */
  readonly error: string | null;
  readonly usage: TaskUsage;
  readonly remark?: string;
};

const HEAD = 16_000;
const TAIL = 8_000;
const LONGEST_DESCRIPTION = 200;
const SHOWN_COLUMNS = 40;

/** The notice of a task's end: XML for the model, one line for people. */
export function taskNotice(notice: string, task: EndedTask): EventBodies["notice.queued"] {
  const { id, callId } = task;
  const call = callId === null ? {} : { call: callId };
  return { notice, kind: "task", modelText: envelope(task), displayText: displayText(task), task: id, ...call };
}

/** One line: what was started and how it ended. */
export function taskSummary({ agent, description, status, remark }: EndedTask): string {
  return `${agent}: ${description.slice(0, LONGEST_DESCRIPTION)} — ${status}${remark === undefined ? "" : ` (${remark})`}`;
}

function envelope(task: EndedTask): string {
  const { id, callId, status, usage } = task;
  return [
    "<task-notification>",
    `<task-id>${escaped(id)}</task-id>`,
    ...(callId === null ? [] : [`<tool-use-id>${escaped(callId)}</tool-use-id>`]),
    `<status>${escaped(status)}</status>`,
    `<summary>${escaped(taskSummary(task))}</summary>`,
    `<result>${escaped(shortened(resultOf(task)))}</result>`,
    `<usage><total_tokens>${usage.totalTokens}</total_tokens><tool_uses>${usage.toolUses}</tool_uses><duration_ms>${usage.durationMs}</duration_ms></usage>`,
    "</task-notification>",
  ].join("\n");
}

function resultOf({ status, result, error }: EndedTask): string {
  if (status === "completed") return result === "" ? "(agent ended without text)" : result;
  if (status === "cancelled") return result === "" ? "(no output)" : result;
  const message = `Error: ${error ?? "unknown"}`;
  return result === "" ? message : `${message}\n\n${result}`;
}

/** Never splits a surrogate pair. */
function shortened(text: string): string {
  if (text.length <= HEAD + TAIL) return text;
  const head = text.slice(0, HEAD).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(-TAIL).replace(/^[\udc00-\udfff]/, "");
  const left = text.length - head.length - tail.length;
  return `${head}\n[… ${left} characters left out; use task_output …]\n${tail}`;
}

const CONTROL = /(?![\t\n])\p{Cc}/gu;

function escaped(text: string): string {
  return escapeXml(text.toWellFormed().replace(CONTROL, ""));
}

function displayText({ agent, description, status, error }: EndedTask): string {
  const name = `Background task "${oneLine(agent)}: ${cutToWidth(oneLine(description), SHOWN_COLUMNS)}"`;
  if (status === "completed") return `${name} completed.`;
  if (status === "cancelled") return `${name} was cancelled.`;
  return `${name} failed: ${oneLine((error ?? "").split("\n", 1)[0] ?? "")}`;
}

export function scheduleNotice(
  notice: string,
  { schedule, prompt, modelText }: { readonly schedule: string; readonly prompt: string; readonly modelText: string },
): EventBodies["notice.queued"] {
  return { notice, kind: "schedule", modelText, displayText: `Schedule: ${cutToWidth(oneLine(prompt), SHOWN_COLUMNS)}`, schedule };
}

import { type Display, oneLine, visible } from "@assent/core";
import type { Block, CallBlock } from "../transcript/block.ts";
import { callTitle, outcomeWord } from "../transcript/call-words.ts";
import type { TaskResult } from "../transcript/task-ends.ts";

const OUTPUT_LINES = 20;

/** A block as plain words, for screen readers. */
export function plainLines(block: Block, cwd: string): readonly string[] {
  switch (block.type) {
    case "user":
      return [];
    case "answer":
    case "note":
      return visible(block.text).split("\n");
    case "notice":
      return [...visible(`Notice: ${block.text}`).split("\n"), ...(block.results ?? []).flatMap(taskResultLines)];
    case "code":
      return block.lines.map(visible);
    case "thought":
      return [];
    case "page":
      return [...(block.title === "" ? [] : [block.title]), ...visible(block.text).split("\n")];
    default:
      return callLines(block, cwd);
  }
}

function taskResultLines({ task, text, outputFile }: TaskResult): readonly string[] {
  const lines = text === "" ? [] : visible(text).trimEnd().split("\n");
  const more = lines.length > OUTPUT_LINES ? [`${lines.length - OUTPUT_LINES} more lines: /tasks ${oneLine(task)}`] : [];
  return [...lines.slice(0, OUTPUT_LINES), ...more, ...(outputFile === undefined ? [] : [`Full output: ${oneLine(outputFile)}`])];
}

function callLines(block: CallBlock, cwd: string): readonly string[] {
  const { tool, input, outcome, decided, display, live, text = "" } = block;
  const how = `${outcomeWord(block)}${decided === undefined ? "" : `, ${decided}`}`;
  const written = outcome === "cancelled" && live !== undefined ? `${displayText(live).replace(/\n$/, "")}\n` : "";
  const shown = written + (display === undefined ? text : displayText(display));
  const lines = visible(shown).replace(/\n$/, "").split("\n");
  const more = lines.length > OUTPUT_LINES ? [`${lines.length - OUTPUT_LINES} more lines.`] : [];
  return [`Call: ${oneLine(tool)} ${callTitle(tool, input, cwd)}: ${how}.`, ...(shown === "" ? [] : lines.slice(0, OUTPUT_LINES)), ...more];
}

function displayText(display: Display): string {
  if (typeof display === "string") return display;
  switch (display.type) {
    case "file_diff":
      return display.fileDiff;
    case "todo_list":
      return display.todos.map(({ content, status }) => `${status}: ${content}`).join("\n");
    case "plan_summary":
      return display.plan;
    case "ansi_output":
      return display.ansiOutput.map((runs) => runs.map(({ text }) => text).join("")).join("\n");
    case "task_execution":
      return display.result ?? "";
    case "tool_progress":
      return display.message ?? "";
    default:
      return display satisfies never;
  }
}

import { cut, wrap, wrapWords } from "../../io/display-width.ts";
import { counted, oneLine, readable, visible } from "../../io/visible-text.ts";
import { highlight } from "../draw/highlight.ts";
import type { Block } from "./block.ts";
import { drawCall } from "./draw-call.ts";
import type { Drawing } from "./drawing.ts";
import type { TaskResult } from "./task-ends.ts";

const INDENT = "  ";

/** Draws a block; every line fits the canvas. */
export function drawBlock(block: Block, drawing: Drawing): readonly string[] {
  const { theme, columns } = drawing;
  switch (block.type) {
    case "user":
      return markLines(wrapWords(readable(block.text), columns - 2), theme.person(">"), theme.person);
    case "answer":
      return markLines(drawing.markdown(visible(block.text), columns - 2), block.first ? theme.accent("◆") : " ", (line) => line);
    case "code":
      return block.lines.flatMap((line) => codeLines(line, block.language, drawing));
    case "thought":
      return thoughtLines(block.text, drawing);
    case "notice":
      return [
        ...markLines(wrapWords(readable(block.text), columns - 2), theme.notice("●"), theme.notice),
        ...(block.results ?? []).flatMap((brought) => taskResultLines(brought, drawing)),
      ];
    case "note":
      return wrapWords(readable(block.text), columns - 2).map((line) => INDENT + theme[block.role](line));
    case "page":
      return [
        ...(block.title === "" ? [] : [theme.title(block.title)]),
        ...wrapWords(readable(block.text), columns - 2).map((line) => INDENT + line),
      ];
    default:
      return drawCall(block, drawing);
  }
}

/** True if an empty line separates the blocks. */
export function needsGap(before: Block | undefined, block: Block): boolean {
  if (!before) return false;
  if (block.type === "code") return block.first;
  if (block.type === "call") return before.type !== "call";
  if (block.type === "note") return before.type !== "note" && before.type !== "call";
  return true;
}

/** How long a task's output is, or all of it if open. */
function taskResultLines({ task, text, outputFile }: TaskResult, { columns, theme, open }: Drawing): readonly string[] {
  const lines = text === "" ? [] : wrap(readable(text.trimEnd()), columns - 4);
  const where = outputFile === undefined ? [] : wrap(`Full output: ${oneLine(outputFile)}`, columns - 4);
  if (open) return [...lines, ...where.map((line) => theme.dim(line))].map((line) => `    ${line}`);
  if (lines.length + where.length === 0) return [];
  const much = lines.length === 0 ? "no output" : `${counted(lines.length, "line")} of output`;
  return [`  ${theme.dim(cut(`${much}: ctrl+o or /tasks ${oneLine(task)}`, columns - 2))}`];
}

function markLines(lines: readonly string[], mark: string, paint: (text: string) => string): readonly string[] {
  return lines.map((line, at) => `${at === 0 ? mark : " "} ${paint(line)}`);
}

function codeLines(line: string, language: string, { columns, theme }: Drawing): readonly string[] {
  return wrap(readable(line), columns - 4).map((row) => {
    const painted = highlight(row, language).map(({ text, role }) => (role ? theme[role](text) : text));
    return `  ${theme.border("│")} ${painted.join("")}`;
  });
}

const THOUGHT_LINES = 3;

function thoughtLines(text: string, { columns, theme, open }: Drawing): readonly string[] {
  const lines = wrapWords(readable(text).trim(), columns - 4);
  const shown = open ? lines : lines.slice(-THOUGHT_LINES);
  const hidden = lines.length - shown.length;
  return [theme.dim(`  thinking${hidden > 0 ? ` (${hidden} more lines: ctrl+o)` : ""}`), ...shown.map((line) => `    ${theme.dim(line)}`)];
}

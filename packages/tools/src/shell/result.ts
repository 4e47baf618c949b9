import type { BackgroundEnd, Containment, Display, SpilledOutput, StepsEnd, ToolResult } from "@assent/core";
import { composeCut, cutOutput } from "@assent/core/parts";
import { makeAnsiScreen } from "@assent/host";
import { describeRefusal } from "./steps.ts";

/** Slightly below the runtime's limits, so that output is not cut twice. */
const CUT = { maxChars: 24_000, maxLines: 950, keep: "both" } as const;

export type ShellRun = {
  readonly timeoutMs: number;
  readonly isTerminal: boolean;
  /** A note about how the command was run. */
  readonly note?: string;
  readonly save: (output: string) => Promise<SpilledOutput>;
  readonly containment?: Containment;
};

export async function makeShellResult(end: StepsEnd, run: ShellRun): Promise<ToolResult> {
  const { text, spilled } = await cutShownOutput(end, run);
  const [type, message, last] = describeEnd(end, run.timeoutMs);
  const lines = [last, survivorsLine(end), run.note ?? "", ...containmentLines(end, run.containment)].filter((line) => line !== "");
  const { content, display } = run.isTerminal ? showTerminal(text, lines) : showWritten(text, lines);
  return {
    content,
    ...(display && { display }),
    ...(type !== undefined && { error: { type, message } }),
    ...(spilled && { spilled: [spilled] }),
    ...(run.containment && { details: { containment: run.containment } }),
  };
}

/** Limits for the output in a notice. */
const NOTICE_CUT = { maxChars: 20_000, maxLines: 950, keep: "both" } as const;

export type BackgroundRun = {
  readonly timeoutMs: number | undefined;
  readonly isTerminal: boolean;
  readonly note: string | undefined;
  readonly outputFile: string;
  readonly containment?: Containment | undefined;
};

/** How a background command ended, for its notice. */
export function makeBackgroundEnd(end: StepsEnd, run: BackgroundRun): BackgroundEnd {
  const { timeoutMs = 0, isTerminal, note = "", outputFile } = run;
  const [type, message] = describeEnd(end, timeoutMs);
  const cut = cutOutput(end.output, NOTICE_CUT);
  const { chars, lines, dropped, spilled } = end;
  const text = cut ? composeCut(dropped > 0 ? { ...cut, chars, lines } : cut, undefined) : end.output;
  const shown = isTerminal ? drawText(text) : text.trimEnd();
  const whole = spilled?.cut ? `[its output, up to the file limit: ${outputFile}]` : `[all of its output: ${outputFile}]`;
  const where = chars === 0 || spilled ? whole : "[its output could not be saved to a file]";
  const result = [shown === "" ? "(no output)" : shown, survivorsLine(end), note, ...containmentLines(end, run.containment), where]
    .filter((line) => line !== "")
    .join("\n");
  const common = { result, partial: end.ended !== "exit" };
  if (type === undefined) return { ...common, status: "completed", error: null };
  if (end.ended === "cancelled") return { ...common, status: "cancelled", error: null };
  return { ...common, status: "failed", error: end.ended === "timeout" ? `time limit (${timeoutMs} ms) reached` : message };
}

/** A command that settings would rather confine says why it ran outside. */
function containmentLines({ notes = [] }: StepsEnd, containment: Containment | undefined): readonly string[] {
  return containment?.confined === false ? [...notes, `[run outside the sandbox: ${containment.reason}]`] : notes;
}

function survivorsLine({ survivors }: StepsEnd): string {
  return survivors.length > 0 ? `[still running: process ${survivors.join(", ")}]` : "";
}

/** The error type and message, and the line after the output. No type on success. */
function describeEnd(
  { ended, exitCode, signal, refused }: StepsEnd,
  timeoutMs: number,
): readonly [type: string | undefined, message: string, last: string] {
  if (ended === "timeout") {
    const message = `Tool 'shell' did not finish within ${timeoutMs / 1000} s and was stopped. It may have had effects.`;
    return ["execution_timeout", message, `Error: ${message}`];
  }
  if (ended === "cancelled") return ["cancelled", "The command was cancelled.", "[cancelled]"];
  if (refused) {
    const [type, message] = describeRefusal(refused);
    return [type, message, `Error: ${message}`];
  }
  if (signal !== null) return ["shell_execute_error", `The command was ended by ${signal}.`, `[ended by signal ${signal}]`];
  if (exitCode === 0) return [undefined, "", ""];
  return ["shell_execute_error", `The command ended with exit code ${exitCode}.`, `[exit code ${exitCode}]`];
}

type ShownOutput = { readonly text: string; readonly spilled: SpilledOutput | undefined };

/**
 * The runtime cuts output that was kept whole. Only this tool knows the size of truncated output. Terminal output is cut before it is
 * drawn, which is slow.
 */
async function cutShownOutput({ output, dropped, chars, lines, spilled }: StepsEnd, { isTerminal, save }: ShellRun): Promise<ShownOutput> {
  const cut = dropped > 0 || isTerminal ? cutOutput(output, CUT) : undefined;
  if (!cut) return { text: output, spilled };
  const file = dropped > 0 ? spilled : await save(output).catch(() => undefined);
  return { text: composeCut(dropped > 0 ? { ...cut, chars, lines } : cut, file ?? "unsaved"), spilled: file };
}

type ShownResult = { readonly content: string; readonly display?: Display };

/** The model gets the output unchanged. People see escape sequences drawn. */
function showWritten(text: string, last: readonly string[]): ShownResult {
  const output = text.endsWith("\n") ? text.slice(0, -1) : text;
  const content = [...(output === "" ? [] : [output]), ...last].join("\n");
  if (!text.includes("\x1b")) return { content };
  const cut = cutOutput(content, CUT);
  return { content, display: { type: "ansi_output", ansiOutput: drawLines(cut ? composeCut(cut, undefined) : content) } };
}

/** Wider than the terminal, so lines that it wrapped are whole again. */
const DRAWN_SIZE = { columns: 500, rows: 24 } as const;

/** Both see what the terminal would show, because cursor movements are unreadable. */
function showTerminal(text: string, last: readonly string[]): ShownResult {
  const lines = drawLines(text);
  const shown = lines.map(lineText);
  const display: Display = { type: "ansi_output", ansiOutput: [...lines, ...last.flatMap((line) => drawLines(line))] };
  return { content: [...shown, ...last].join("\n"), display };
}

export function drawText(text: string): string {
  return drawLines(text).map(lineText).join("\n");
}

function lineText(line: DrawnLines[number]): string {
  const text = line.map((run) => run.text).join("");
  return text.trimEnd();
}

type DrawnLines = ReturnType<ReturnType<typeof makeAnsiScreen>["lines"]>;

function drawLines(text: string): DrawnLines {
  const screen = makeAnsiScreen(DRAWN_SIZE);
  screen.write(text.replaceAll(/(?<!\r)\n/g, "\r\n"));
  return screen.lines();
}

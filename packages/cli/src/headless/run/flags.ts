import type { Context } from "../../command-line/spec.ts";
import { usageError } from "../../io/failure.ts";
import type { OutputFormat } from "../stream/output.ts";
import { type ScheduleEntry, scheduleEntries } from "./schedule-file.ts";

export type RunFlags = {
  readonly output: OutputFormat;
  readonly input: "text" | "stream-json";
  readonly partial: boolean;
  readonly approvalTimeoutMs: number | undefined;
  readonly maxTurns: number | undefined;
  readonly maxToolCalls: number | undefined;
  readonly maxTimeMs: number | undefined;
  readonly schedules: readonly ScheduleEntry[];
};

export async function runFlags(context: Context, command: string): Promise<RunFlags> {
  const { options } = context;
  const format = options.text("output-format");
  const output = options.flag("json") ? "json" : format === "json" || format === "stream-json" ? format : "text";
  if (options.flag("json") && format !== undefined && format !== "json")
    throw usageError(command, `options '--json' and '--output-format ${format}' cannot be used together.`);
  const input = options.text("input-format") === "stream-json" ? "stream-json" : "text";
  if (input === "stream-json" && output !== "stream-json")
    throw usageError(command, "option '--input-format stream-json' needs '--output-format stream-json'.");
  return {
    output,
    input,
    partial: options.flag("include-partial-messages"),
    approvalTimeoutMs: options.duration("approval-timeout"),
    maxTurns: options.count("max-turns"),
    maxToolCalls: options.count("max-tool-calls"),
    maxTimeMs: options.duration("max-time"),
    schedules: await scheduleEntries(context, command),
  };
}

/** With `--quiet`, stderr gets only errors. */
export function silenceStderr(context: Context): Context {
  if (!context.options.flag("quiet")) return context;
  const { stderr } = context.io;
  const write = (text: string): Promise<void> => (isError(text) ? stderr.write(text) : Promise.resolve());
  return { ...context, io: { ...context.io, stderr: { ...stderr, write } } };
}

function isError(text: string): boolean {
  return text.startsWith("assent: ") && !text.startsWith("assent: warning:");
}

import { resolve } from "node:path";
import {
  type ConfirmationDetails,
  composeCut,
  cutOutput,
  defineTool,
  type Files,
  type ProcessEnd,
  type RunContext,
  type StepsEnd,
  type StepsSpec,
  type Tool,
  type ToolResult,
} from "@assent/core";
import { commandEnvironment } from "@assent/host";
import { findBash } from "./bash.ts";
import { description } from "./description.ts";
import { failure } from "./failure.ts";
import { boolean, type InputOf, integer, object, optional, string } from "./fields.ts";
import { plannedRun, refusalOf, type StepsPlace } from "./shell-steps.ts";
import { shownPath } from "./shown-path.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const DESCRIBED_CHARS = 200;
/** What people see of a running command. */
const LIVE_CHARS = 10_000;
/** Output that was too much to hold is cut here, a little below what the runtime lets through, so that it is not cut twice. */
const CUT = { maxChars: 24_000, maxLines: 950, keep: "both" } as const;

const FIELDS = {
  command: string({ description: "The command line, run with bash.", maxLength: 1024 * 1024 }),
  timeout_ms: optional(integer({ description: "Time limit in milliseconds. Default 120000.", minimum: 1, maximum: 3_600_000 })),
  description: optional(string({ description: "What the command is for, in a few words.", maxLength: 200 })),
  cwd: optional(string({ description: "Working directory, absolute or relative to the present one.", minLength: 1, maxLength: 4096 })),
};

/** Known names, so that a model that uses them is told what is the matter. */
const NOT_YET = {
  run_in_background: optional(boolean({ description: "" })),
  pty: optional(boolean({ description: "" })),
};

type Input = InputOf<typeof FIELDS> & Partial<InputOf<typeof NOT_YET>>;

/** What the shell tool needs. The environment is the user's own; secrets and what redirects a shell are taken out of it. */
export type ShellDeps = StepsPlace & { readonly files: Files };

/**
 * Runs a command line in process groups of its own: with bash the text a person was shown, without any shell the plan of one that nobody saw. It has no opinion of its own:
 * what is read-only, allowed or malformed is for facts, rules and guards to say.
 */
export function shellTool(deps: ShellDeps): Tool {
  return defineTool({
    name: "shell",
    title: "Shell",
    description: description("shell"),
    kind: "execute",
    input: object(FIELDS, NOT_YET),
    inputAliases: { cmd: "command" },
    isOutputMarkdown: false,
    canUpdateOutput: true,
    check: notYet,
    describe,
    confirm: (input, { cwd }) => confirm(input, cwd),
    run: (input, ctx) => run(deps, input, ctx),
  });
}

function notYet({ run_in_background, pty, cwd }: Input): string | undefined {
  if (run_in_background) return "params/run_in_background is not available yet: run the command in the foreground";
  if (pty) return "params/pty is not available yet: run the command without a terminal";
  return cwd?.includes("\0") ? "params/cwd must not contain a NUL character" : undefined;
}

/** One line; the whole text is in the details of the approval. */
function describe({ command, description: words }: Input): string {
  const line = command.trim().replace(/\s*\n\s*/g, " ⏎ ");
  const shown = line.length > DESCRIBED_CHARS ? `${line.slice(0, DESCRIBED_CHARS).toWellFormed()}…` : line;
  return words === undefined ? `Run ${shown}` : `Run ${shown} (the model says: ${words.replace(/\s+/g, " ")})`;
}

function confirm({ command, cwd, description: words }: Input, from: string): ConfirmationDetails {
  const rootCommand = command.trim().split(/\s+/, 1)[0] ?? "";
  const said = words === undefined ? {} : { warnings: [`The model says: ${words}`] };
  return { type: "exec", command, rootCommand, cwd: resolve(from, cwd ?? "."), ...said };
}

async function run(deps: ShellDeps, input: Input, ctx: RunContext): Promise<ToolResult> {
  const timeoutMs = input.timeout_ms ?? DEFAULT_TIMEOUT_MS;
  const start = ctx.plan === undefined ? startText(deps, input, ctx) : startPlan(deps, ctx);
  if ("failed" in start) return start.failed;
  let startFailure: unknown;
  const onStart: RunContext["started"] = async (process) => {
    await ctx.started(process).catch((error: unknown) => {
      startFailure = error;
      throw error;
    });
  };
  const spill = () => deps.files.spill(ctx.sessionId, ctx.callId);
  try {
    const end = await start.go({ timeoutMs, onStart, onOutput: liveTail(ctx.update), spill });
    return resultOf(end, timeoutMs);
  } catch (error) {
    if (startFailure !== undefined) throw startFailure;
    const why = error instanceof Error ? error.message : String(error);
    return failure("shell_execute_error", `The command was not started in ${shownPath(deps.workspace, start.cwd)}: ${why}.`);
  }
}

type Following = Pick<StepsSpec, "timeoutMs" | "onStart" | "onOutput" | "spill">;

/** What is about to run, and where. */
type Start = { readonly cwd: string; readonly go: (following: Following) => Promise<StepsEnd> } | { readonly failed: ToolResult };

/** The text that was shown to a person, or that a person's mode, hook or grant lets pass whole. */
function startText({ workspace, processes, environment, secretEnv }: ShellDeps, { command, cwd: from }: Input, ctx: RunContext): Start {
  const env = commandEnvironment(environment, secretEnv?.());
  const file = findBash({ workspace, searchPath: env["PATH"] ?? "" });
  if (file === undefined) return { failed: failure("shell_execute_error", "There is no bash on this machine.") };
  const cwd = resolve(ctx.cwd, from ?? ".");
  const args = ["--noprofile", "--norc", "-c", "--", command];
  return { cwd, go: (following) => processes.run({ file, args, cwd, env, ...following }, ctx.signal) };
}

/** The plan of a text that nobody saw. The text itself is never run then. */
function startPlan(deps: ShellDeps, { plan, cwd, signal }: RunContext): Start {
  const planned = plannedRun(plan, deps);
  return "failed" in planned ? planned : { cwd, go: (following) => deps.processes.runSteps({ ...planned, ...following }, signal) };
}

function liveTail(update: RunContext["update"]): (chunk: string) => void {
  let tail = "";
  return (chunk) => {
    tail = (tail + chunk).slice(-LIVE_CHARS).toWellFormed();
    update(tail);
  };
}

function resultOf(end: StepsEnd, timeoutMs: number): ToolResult {
  const survivors = end.survivors.length > 0 ? `[still running: process ${end.survivors.join(", ")}]` : "";
  const [type, message, last] = fateOf(end, timeoutMs);
  const content = [shownOutput(end), last, survivors].filter((part) => part !== "").join("\n");
  const spilled = end.spilled ? { spilled: [end.spilled] } : {};
  return type === undefined ? { content, ...spilled } : { content, error: { type, message }, ...spilled };
}

/** The error's type and message, and the line after the output; no type for a success. */
function fateOf(
  { ended, exitCode, signal, refused }: StepsEnd,
  timeoutMs: number,
): readonly [type: string | undefined, message: string, last: string] {
  if (ended === "timeout") {
    const message = `Tool 'shell' did not finish within ${timeoutMs / 1000} s and was stopped. It may have had effects.`;
    return ["execution_timeout", message, `Error: ${message}`];
  }
  if (ended === "cancelled") return ["cancelled", "The command was cancelled.", "[cancelled]"];
  if (refused) {
    const [type, message] = refusalOf(refused);
    return [type, message, `Error: ${message}`];
  }
  if (signal !== null) return ["shell_execute_error", `The command was ended by ${signal}.`, `[ended by signal ${signal}]`];
  if (exitCode === 0) return [undefined, "", ""];
  return ["shell_execute_error", `The command ended with exit code ${exitCode}.`, `[exit code ${exitCode}]`];
}

/** Output that was held whole is left to the runtime to cut; of other output only this tool knows how much there was. */
function shownOutput({ output, dropped, chars, lines, spilled }: ProcessEnd): string {
  const cut = dropped > 0 ? cutOutput(output, CUT) : undefined;
  const text = cut ? composeCut({ ...cut, chars, lines }, spilled ?? "unsaved") : output;
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

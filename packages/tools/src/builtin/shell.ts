import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  type BackgroundCommands,
  type ConfirmationDetails,
  defineTool,
  errorCode,
  type Files,
  messageOf,
  type RunContext,
  type SpilledOutput,
  type StepsEnd,
  type Tool,
  ToolError,
  type ToolResult,
} from "@assent/core";
import type { EffectRunner } from "@assent/host";
import { isInside, readPlannedLine } from "@assent/policy";
import { description } from "../description.ts";
import { failure } from "../failure.ts";
import { saveOutput } from "../files/save-output.ts";
import { displayPath } from "../files/shown-path.ts";
import { boolean, type InputOf, integer, object, optional, string } from "../schema/fields.ts";
import { startInBackground } from "../shell/background.ts";
import { NO_BASH, textProgram } from "../shell/bash.ts";
import { type EnteredSandbox, guessConfinementFailure, type ShellContainment } from "../shell/containment.ts";
import { shellPreviewer } from "../shell/effect-preview.ts";
import { liveOutput, TERMINAL_SIZE } from "../shell/live-output.ts";
import { makeShellResult } from "../shell/result.ts";
import { planRun, type StartCommand, type StepsPlace } from "../shell/steps.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const DESCRIBED_CHARS = 200;
const FIELDS = {
  command: string({ description: "The command line, run with bash.", maxLength: 1024 * 1024 }),
  timeout_ms: optional(integer({ description: "Time limit in milliseconds. Default 120000.", minimum: 1, maximum: 3_600_000 })),
  description: optional(string({ description: "What the command is for, in a few words.", maxLength: 200 })),
  cwd: optional(string({ description: "Working directory, absolute or relative to the current one.", minLength: 1, maxLength: 4096 })),
  pty: optional(boolean({ description: "Run it in a terminal of 80 columns and 24 rows. Default false." })),
};

/** Shown only if commands can run in the background. Elsewhere the check explains the problem. */
const BACKGROUND = {
  run_in_background: optional(
    boolean({ description: "Return immediately; the command keeps running and you are notified when it ends. Default false." }),
  ),
};

/** Shown only if commands can be confined. */
const CONTAINMENT = {
  unconfined: optional(boolean({ description: "Run it outside the sandbox. A person is asked every time. Default false." })),
};

type ShellInput = InputOf<typeof FIELDS> & Partial<InputOf<typeof BACKGROUND> & InputOf<typeof CONTAINMENT>>;

/** What the shell tool needs. Secrets and variables that control a shell are removed from the environment. */
export type ShellDeps = StepsPlace & {
  readonly files: Files;
  /** Runs commands in the background; unavailable if absent. */
  readonly background?: BackgroundCommands;
  /** Confines commands where they were judged to run confined. */
  readonly containment?: ShellContainment;
  /** Shows models how to leave the sandbox. */
  readonly showsUnconfined?: boolean;
  /** Runs commands on a copy of the workspace, confined; unavailable if absent. */
  readonly effects?: EffectRunner;
};

export const SHELL: ToolListing = { name: "shell", title: "Shell", kind: "execute", subject: "command" };

/** Runs a command line in its own process group: from its plan if a rule allowed it, with bash if a person approved it. */
export function shellTool(deps: ShellDeps): Tool {
  const { effects, containment } = deps;
  return defineTool({
    ...listedFields(SHELL),
    description: deps.background ? `${description("shell")}\n${description("shell-background")}` : description("shell"),
    input: makeInput(deps),
    inputAliases: { cmd: "command" },
    isOutputMarkdown: false,
    canUpdateOutput: true,
    check: (input) => checkInput(input, deps),
    describe,
    fails: ({ cwd }, ctx) => (cwd === undefined ? undefined : findMissingDirectory(deps, resolve(ctx.cwd, cwd))),
    confirm: (input, { cwd }) => confirmCommand(input, cwd),
    run: (input, ctx) => runCommand(deps, input, ctx),
    ...(effects && containment && { effectPreview: shellPreviewer({ ...deps, effects, containment }) }),
  });
}

/** Optional fields are shown only where they have an effect. */
function makeInput({ background, showsUnconfined }: ShellDeps): ReturnType<typeof object<typeof FIELDS>> {
  const shown = { ...FIELDS, ...(background && BACKGROUND), ...(showsUnconfined && CONTAINMENT) };
  return object(shown, { ...(!background && BACKGROUND), ...(!showsUnconfined && CONTAINMENT) });
}

function checkInput({ run_in_background, cwd }: ShellInput, { background }: ShellDeps): string | undefined {
  if (run_in_background && !background) return "params/run_in_background is not available here: run the command in the foreground";
  return cwd?.includes("\0") ? "params/cwd must not contain a NUL character" : undefined;
}

function findMissingDirectory({ workspace }: ShellDeps, cwd: string): ToolResult | undefined {
  if (!isInside(workspace, cwd) || existsSync(cwd)) return undefined;
  return failure("shell_execute_error", `The directory ${displayPath(workspace, cwd)} does not exist. Nothing was run.`);
}

/** One line; the approval shows the whole text. */
function describe({ command, description: words, run_in_background }: ShellInput): string {
  const what = `Run ${commandLine(command)}${run_in_background ? " in the background" : ""}`;
  return words === undefined ? what : `${what} (the model says: ${words.replace(/\s+/g, " ")})`;
}

function commandLine(command: string): string {
  const line = command.trim().replace(/\s*\n\s*/g, " ⏎ ");
  return line.length > DESCRIBED_CHARS ? `${line.slice(0, DESCRIBED_CHARS).toWellFormed()}…` : line;
}

const ROOT_WITHIN = 10_000;
const OPENING = /^[\s(){!;&|<>]+/;
const ASSIGNMENTS = /^(?:\s*[A-Za-z_]\w*\+?=(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])*\s)+/s;

function confirmCommand({ command, cwd, description: words, run_in_background }: ShellInput, from: string): ConfirmationDetails {
  const warnings = [...(run_in_background ? [STAYS] : []), ...(words === undefined ? [] : [`The model says: ${words}`])];
  const said = warnings.length === 0 ? {} : { warnings };
  return { type: "exec", command, rootCommand: findRootCommand(command), cwd: resolve(from, cwd ?? "."), ...said };
}

const STAYS = "It runs in the background until it exits, is stopped, or the session ends.";

/** Skips assignments and shell operators. */
function findRootCommand(command: string): string {
  const from = command.slice(0, ROOT_WITHIN).replace(OPENING, "").replace(ASSIGNMENTS, "").trimStart();
  return from.split(/[\s;&|<>()]/, 1)[0] ?? "";
}

async function runCommand(deps: ShellDeps, input: ShellInput, ctx: RunContext): Promise<ToolResult> {
  if (ctx.allowedByRules && ctx.plan === undefined) return failure("shell_plan_missing", NO_PLAN);
  const start = ctx.plan === undefined ? startText(deps, input, ctx) : startPlan(deps, ctx);
  if ("failed" in start) return start.failed;
  let sandbox: EnteredSandbox | undefined;
  try {
    sandbox = await enterSandbox(deps, start, {
      ...ctx,
      keepsNewControls: input.run_in_background === true || readPlannedLine(ctx.plan)?.readOnly === true,
    });
  } catch (error) {
    return failure("execution_denied", `The command was not run: it cannot be confined. ${messageOf(error)}`);
  }
  let startFailure: unknown;
  const started: RunContext["started"] = async (process) => {
    await ctx.started(process).catch((error: unknown) => {
      startFailure = error;
      throw error;
    });
  };
  const note = input.pty && !start.isTerminal ? NO_TERMINAL : undefined;
  const running: RunningCommand = {
    deps,
    input,
    start: sandbox ? confineStart(start, sandbox, ctx) : start,
    note,
    ctx: { ...ctx, started },
  };
  try {
    return await (input.run_in_background ? runInBackground(running) : runInForeground(running));
  } catch (error) {
    if (startFailure !== undefined || error instanceof ToolError) throw startFailure ?? error;
    if (errorCode(error) === "ERR_NOT_CONFINED") return failure("execution_denied", `The command was not run. ${messageOf(error)}`);
    return failure("shell_execute_error", `The command was not started in ${displayPath(deps.workspace, start.cwd)}: ${messageOf(error)}.`);
  }
}

type RunningCommand = {
  readonly deps: ShellDeps;
  readonly input: ShellInput;
  readonly start: ReadyCommand;
  readonly note: string | undefined;
  readonly ctx: RunContext;
};

async function runInForeground(running: RunningCommand): Promise<ToolResult> {
  const { deps, input, start, ctx } = running;
  const { isTerminal } = start;
  const timeoutMs = input.timeout_ms ?? DEFAULT_TIMEOUT_MS;
  const spill = () => deps.files.spill(ctx.sessionId, ctx.callId);
  const onOutput = liveOutput(ctx.update, { isTerminal });
  const end = await start.go({ timeoutMs, onStart: ctx.started, onOutput, spill }, ctx.signal);
  return await makeResult(end, running);
}

async function makeResult(end: StepsEnd, { deps, input, start: { isTerminal }, note, ctx }: RunningCommand): Promise<ToolResult> {
  const timeoutMs = input.timeout_ms ?? DEFAULT_TIMEOUT_MS;
  const save = (output: string): Promise<SpilledOutput> => saveOutput(deps.files, output, ctx);
  const { containment } = ctx;
  return await makeShellResult(end, {
    timeoutMs,
    isTerminal,
    save,
    ...(note !== undefined && { note }),
    ...(containment && { containment }),
  });
}

/** A command that ends before it could continue in the background is reported like a foreground command. */
async function runInBackground(running: RunningCommand): Promise<ToolResult> {
  const { deps, input, start, note, ctx } = running;
  if (!deps.background) throw new ToolError("Commands cannot run in the background here.", "shell_execute_error");
  const { command, timeout_ms: timeoutMs, description: words } = input;
  const about = { command, timeoutMs, note, description: words ?? commandLine(command).slice(0, DESCRIBED_CHARS) };
  const launched = await startInBackground(deps.background, { ...about, ...start, files: deps.files }, ctx);
  return "result" in launched ? launched.result : await makeResult(launched.end, running);
}

const NO_PLAN =
  "The command was not run: a rule allows it, but nothing analyzed what it runs. Give the dispatcher the facts of @assent/policy (createPolicyFacts), or let a person approve it.";

/** With a terminal a program may prompt or do more than its table says. */
const NO_TERMINAL = "[run without a terminal: commands allowed by a rule do not get one]";

type ReadyCommand = {
  readonly cwd: string;
  readonly isTerminal: boolean;
  readonly searchPath: string;
  readonly go: StartCommand;
};

type CommandStart = ReadyCommand | { readonly failed: ToolResult };

/** Undefined if the call was judged to run outside. */
async function enterSandbox(
  { containment }: ShellDeps,
  { cwd, searchPath }: ReadyCommand,
  ctx: RunContext & { readonly keepsNewControls: boolean },
): Promise<EnteredSandbox | undefined> {
  const where = ctx.containment;
  if (where?.confined === false && where.required) throw new Error(where.reason);
  if (!where?.confined) return undefined;
  if (!containment) throw new Error("This program does not offer a sandbox.");
  return await containment.enter({
    sessionId: ctx.sessionId,
    network: where.network,
    cwd,
    searchPath,
    keepsNewControls: ctx.keepsNewControls,
  });
}

/** Confines a command, and adds to its end what the sandbox has to say about it. */
function confineStart(start: ReadyCommand, { confine, leave }: EnteredSandbox, { containment }: RunContext): ReadyCommand {
  const go: StartCommand = async (following, signal) => {
    let notes: readonly string[] = [];
    const end = await start.go({ ...following, confine }, signal).finally(() => {
      notes = leave();
    });
    const guess = end.ended === "exit" && end.exitCode !== 0 ? guessConfinementFailure(end.output, containment) : undefined;
    const lines = [...notes, ...(guess === undefined ? [] : [guess])];
    return lines.length === 0 ? end : { ...end, notes: lines };
  };
  return { ...start, go };
}

/** For text that a person approved, or that a mode, hook or grant allows as a whole. */
function startText(deps: ShellDeps, { command, cwd: from, pty = false }: ShellInput, ctx: RunContext): CommandStart {
  const text = textProgram(deps, command);
  if (!text) return { failed: failure("shell_execute_error", NO_BASH) };
  const cwd = resolve(ctx.cwd, from ?? ".");
  const { env } = text;
  const spec = { ...text, cwd, ...(pty && { env: { ...env, TERM: "xterm-256color" }, pty: TERMINAL_SIZE }) };
  return {
    cwd,
    isTerminal: pty,
    searchPath: env["PATH"] ?? "",
    go: (following, signal) => deps.processes.run({ ...spec, ...following }, signal),
  };
}

/** For commands allowed by a rule: runs the judged plan, never the text. */
function startPlan(deps: ShellDeps, { plan, cwd }: RunContext): CommandStart {
  const planned = planRun(plan, deps);
  if ("failed" in planned) return planned;
  const searchPath = planned.env["PATH"] ?? "";
  return { cwd, isTerminal: false, searchPath, go: (following, signal) => deps.processes.runSteps({ ...planned, ...following }, signal) };
}

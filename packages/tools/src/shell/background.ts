import type { BackgroundCommand, BackgroundCommands, Files, RunContext, StepsEnd, ToolResult } from "@assent/core";
import { drawText, makeBackgroundEnd } from "./result.ts";
import type { StartCommand } from "./steps.ts";

export type BackgroundStart = {
  readonly command: string;
  readonly description: string;
  /** Set only on request: a background command may run as long as the session. */
  readonly timeoutMs: number | undefined;
  readonly isTerminal: boolean;
  readonly note: string | undefined;
  readonly files: Files;
  readonly go: StartCommand;
};

/** A started task, or the end of a command that ended before it started. */
export type LaunchOutcome = { readonly result: ToolResult } | { readonly end: StepsEnd };

/** Starts a command in the background. All output goes to a file. */
export async function startInBackground(commands: BackgroundCommands, what: BackgroundStart, ctx: RunContext): Promise<LaunchOutcome> {
  const { command, description, files, isTerminal, timeoutMs } = what;
  const { sessionId, callId } = ctx;
  const tail = outputTail(isTerminal);
  let ended: StepsEnd | undefined;
  let outputFile = "";
  let isFirst = true;
  const run: BackgroundCommand["run"] = async ({ signal, started }) => {
    const file = await files.spill(sessionId, callId);
    outputFile = file.path;
    const onStart: RunContext["started"] = async (process) => {
      if (isFirst) await ctx.started(process); // later processes start after the call has ended
      isFirst = false;
      await started(process, file.path);
    };
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    try {
      ended = await what.go({ onStart, onOutput: tail.add, spill: async () => file, spillsAll: true, ...limit }, signal);
    } finally {
      await file.end().catch(() => undefined); // a missing file shows that saving failed
    }
    return makeBackgroundEnd(ended, { ...what, outputFile, containment: ctx.containment });
  };
  const task = await commands.start({ sessionId, callId, tool: "shell", command, description, output: tail.text, run }, ctx.signal);
  if (task !== undefined) return { result: launchResult(task, { command, description, outputFile }) };
  if (!ended) throw new Error("nothing was started");
  return { end: ended };
}

function launchResult(
  task: string,
  { command, description, outputFile }: Readonly<Record<"command" | "description" | "outputFile", string>>,
): ToolResult {
  return {
    content: [
      `Started background task ${task} (shell: ${description}). It runs on its own; do not wait or poll.`,
      `Its output goes to ${outputFile}.`,
      "You will receive a <task-notification> when it ends.",
    ].join("\n"),
    display: { type: "task_execution", agentName: "shell", taskDescription: description, taskPrompt: command, status: "background" },
    details: { taskId: task, agent: "shell", outputFile },
  };
}

const KEPT = 1_048_576;
/** Limit for drawing a terminal's output, which is slow. */
const DRAWN = 64_000;

/** The last 1 MiB of output; for a terminal, what it would show. */
function outputTail(isTerminal: boolean): { readonly add: (chunk: string) => void; readonly text: () => string } {
  let tail = "";
  return {
    add: (chunk) => {
      tail += chunk;
      if (tail.length > 2 * KEPT) tail = tail.slice(-KEPT); // not for every chunk, because slicing copies
    },
    text: () => (isTerminal ? drawText(tail.slice(-DRAWN)) : tail.slice(-KEPT).toWellFormed()),
  };
}

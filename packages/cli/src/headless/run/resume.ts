import { exitOf, printCallEnd } from "../../call/end.ts";
import { type CallResult, endedCall, resumeCall } from "../../call/session.ts";
import type { Context } from "../../command-line/spec.ts";
import { isDirectory, otherDirectory } from "../../compose/place.ts";
import { refuseAgentSession } from "../../desk/sessions/agent-session.ts";
import { asFailure, CommandError } from "../../io/failure.ts";
import { printFailure, printJson } from "../../io/output.ts";
import { findRow } from "../../store/find-row.ts";
import { withStoreIfAny } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { isWorkerSession } from "../../worker/registered-workers.ts";

export async function resumeSession(context: Context): Promise<number> {
  return withStoreIfAny(context, async (store) => {
    const row = await findRow(store.ledger, "sessions", context.operands[0] ?? "");
    if (!context.options.flag("watch")) return await continueSession(context, store, row);
    const { continueWhileParked, PARKED } = await import("./watch.ts");
    const { operands } = context;
    const exit = operands[1] === undefined ? PARKED : await continueSession(context, store, row);
    const again = async (): Promise<number> =>
      continueSession({ ...context, operands: operands.slice(0, 1) }, store, await findRow(store.ledger, "sessions", row.id));
    return await continueWhileParked(context, store, { id: row.id, exit, again });
  });
}

/** Resumes a conversation (on a terminal: in the terminal interface) or a call; prints the recorded result of a call that has ended. */
export async function continueSession(context: Context, store: Store, row: ResumedRow): Promise<number> {
  const { io, options } = context;
  if (await isRun(store, row.id)) return await (isAtScreen(context) ? onScreen(context, row) : resumeHeadless(context, store, row.id));
  const left = (await alreadyEnded(store, row)) ?? (await resumeCall(context, store, { id: row.id, cwd: otherDirectory(context, row) }));
  if (left === undefined) {
    if (options.flag("json")) await printJson(io, { sessionId: row.id, callId: null, outcome: null, type: null, content: null });
    else await io.stdout.write("Nothing to resume.\n");
    return 0;
  }
  await printCallEnd(context, left.end);
  if (left.failure !== undefined) await printFailure(io, asFailure(left.failure), false);
  return left.exit;
}

const HEADLESS = ["output-format", "input-format", "on-ask"] as const;

function isAtScreen({ io, options, operands }: Context): boolean {
  const isQuiet = ["json", "quiet", "verbose"].some((name) => options.flag(name));
  return (
    io.stdinIsTTY && io.stdout.isTTY && operands[1] === undefined && !isQuiet && HEADLESS.every((name) => options.text(name) === undefined)
  );
}

async function onScreen(context: Context, { id, cwd }: ResumedRow): Promise<number> {
  const { openTui } = await import("../../tui/open-tui.ts");
  const isThere = context.options.text("cwd") === undefined && isDirectory(cwd);
  return await openTui(isThere ? { ...context, io: { ...context.io, cwd } } : context, { session: id, prompt: undefined });
}

async function isRun({ ledger }: Store, id: string): Promise<boolean> {
  await refuseAgentSession(ledger, id);
  if (isWorkerSession(id))
    throw new CommandError("not_allowed", 1, { message: `${id} is a worker, which has nothing to resume.`, hint: "assent workers" });
  for await (const { body } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["session.created"] }))
    return body["door"] !== "call" && body["door"] !== "hook"; // the call of another agent is refused like one that is under way
  return false;
}

async function resumeHeadless(given: Context, store: Store, id: string): Promise<number> {
  const [{ resumeRun }, { runFlags, silenceStderr }] = await Promise.all([import("./session.ts"), import("./flags.ts")]);
  const context = silenceStderr(given);
  const run = await runFlags(context, "resume");
  const exit = await resumeRun(context, store, { id, prompt: context.operands[1], run });
  if (exit !== undefined) return exit;
  await given.io.stderr.write("Nothing to resume.\n");
  if (run.output !== "text") await (await import("./nothing-to-resume.ts")).printNothingToResume(context, store, { id, run });
  return 0;
}

type ResumedRow = { readonly id: string; readonly cwd: string; readonly state: string };

async function alreadyEnded({ ledger }: Store, { id, state }: ResumedRow): Promise<CallResult | undefined> {
  if (!["done", "failed", "cancelled"].includes(state)) return undefined;
  const proposals = await ledger.pending("proposals", { session: id, all: true, limit: 1_000 });
  if (proposals.some((row) => row.state === "applying" || row.requested)) return undefined; // it was interrupted, so recover it first
  const end = await endedCall(ledger, id);
  return typeof end === "string" ? undefined : { end, exit: exitOf(end) };
}

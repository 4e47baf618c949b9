import type { Ledger, SessionRow, TaskProcess } from "@assent/core";
import { sessionRows } from "../desk/tasks/recorded-tasks.ts";
import { CommandError } from "../io/failure.ts";
import { withStoreIfAny } from "../store/open.ts";
import type { Command, Context, Options } from "./spec.ts";

/**
 * Restricts a process started by a session's own command: it may read, run and resume, but not decide for the person. Returns the context
 * to run with.
 */
export async function withoutPerson(context: Context, spec: Command): Promise<Context> {
  const why = refusal(spec, context.options);
  // Opening the store would settle a restored backup before verify can report it.
  if (spec.name === "verify" && why === undefined) return context;
  const isDecision = why !== undefined && spec.name !== "verify"; // a repair must work on an unreadable store
  if (!(await isOwnCommand(context, isDecision))) return context;
  if (why === undefined) return { ...context, io: { ...context.io, stdinIsTTY: false } };
  throw new CommandError("started_by_session", 1, {
    message: `Only a person may use ${why}, and this process was started by a command of an Assent session.`,
    hint: `Run it from a terminal of your own: assent ${spec.name}`,
  });
}

/** True if a session's command started this process, as marked in the environment or recorded by process id. */
async function isOwnCommand(context: Context, isDecision: boolean): Promise<boolean> {
  const { hasMark, listAncestors, isStartedUnder } = await import("@assent/host");
  const above = listAncestors();
  if (hasMark(context.io.env, above)) return true;
  try {
    return await withStoreIfAny(context, ({ ledger }) => isRecorded(ledger, (recorded) => isStartedUnder(recorded, above)));
  } catch (error) {
    if (isDecision) throw error; // do not let it pass unchecked if the store becomes readable later
    return false; // the command itself reports the error
  }
}

const ENDED: readonly SessionRow["state"][] = ["done", "failed", "cancelled"];

/** Checks every session that has not ended, even one whose process was killed. */
async function isRecorded(ledger: Ledger, isAbove: (recorded: TaskProcess) => boolean): Promise<boolean> {
  for await (const { id, state } of sessionRows(ledger)) {
    if (ENDED.includes(state)) continue;
    for await (const { body } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["call.started", "task.process"] })) {
      const { others = [], ...first } = body as unknown as TaskProcess; // the store returns what its schema wrote
      if ([first, ...others].some(isAbove)) return true;
    }
  }
  return false;
}

function refusal({ name, decides, options: taken }: Command, options: Options): string | undefined {
  if (decides === true) return `assent ${name}`;
  const given = LOOSENING.find((option) => taken.some((one) => one.name === option) && isGiven(options, option));
  if (given !== undefined) return `--${given}`;
  if (name === "trust") return options.flag("show") ? undefined : "assent trust";
  const isLooser = taken.some((one) => one.name === "mode") && LOOSER_MODES.includes(options.text("mode") ?? "");
  if (isLooser) return `--mode ${options.text("mode")}`;
  return options.text("input-format") === "stream-json" ? "--input-format stream-json" : undefined; // a host may answer approvals of other sessions
}

const LOOSENING = ["allow", "add-dir", "policy", "take-over", "repair", "rebuild"];
const LOOSER_MODES: readonly string[] = ["auto-edit", "yolo"];

function isGiven(options: Options, name: string): boolean {
  return options.flag(name) || options.text(name) !== undefined || options.list(name).length > 0;
}

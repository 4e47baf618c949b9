import { type Ledger, readRow, type SessionRow, type TaskProcess } from "@assent/core";
import { hasMark, isStartedUnder, listAncestors, type ProcessRow } from "@assent/host";
import { CommandError } from "../io/failure.ts";
import { openEarly } from "../store/open.ts";
import type { Command, Context, EarlyStore, Options } from "./spec.ts";

/** Runs a command that does more than read. Processes started by a session may not decide for the person. */
export async function runChecked(context: Context, spec: Command): Promise<number> {
  const why = refusal(spec, context.options);
  // Opening the store would settle a restored backup before verify can report it, and a hook has a deadline for it.
  if ((spec.name === "verify" || spec.name === "hook") && why === undefined) return spec.run(context);
  const ancestors = listAncestors();
  let isOwn = hasMark(context.io.env, ancestors);
  let earlyStore: EarlyStore | undefined;
  try {
    if (!isOwn) {
      earlyStore = await openEarly(context);
      isOwn =
        earlyStore?.ledger !== undefined &&
        (await isRecorded(earlyStore.ledger, ancestors, (recorded) => isStartedUnder(recorded, ancestors)));
    }
  } catch (error) {
    // A decision must not pass unchecked if the store becomes readable later. Other commands report the error themselves.
    if (why !== undefined && spec.name !== "verify") throw error; // a repair must work on an unreadable store
  }
  try {
    if (isOwn && why !== undefined) throw startedBySession(why, spec);
    if (spec.group === "maintain") await closeEarly(earlyStore); // these commands open the file in their own way
    return await spec.run({ ...context, earlyStore, ...(isOwn && { io: { ...context.io, stdinIsTTY: false } }) });
  } finally {
    await closeEarly(earlyStore);
  }
}

async function closeEarly(store: EarlyStore | undefined): Promise<void> {
  const ledger = store?.ledger;
  if (!store || !ledger) return;
  store.ledger = undefined;
  await ledger.close();
}

function startedBySession(why: string, { name }: Command): CommandError {
  return new CommandError("started_by_session", 1, {
    message: `Only a person may use ${why}, and this process was started by a command of an Assent session.`,
    hint: `Run it from a terminal of your own: assent ${name}`,
  });
}

const ENDED: readonly SessionRow["state"][] = ["done", "failed", "cancelled"];

/** Asks the ledger only for these process ids, because it may hold thousands of sessions. */
async function isRecorded(ledger: Ledger, ancestors: readonly ProcessRow[], isAbove: (recorded: TaskProcess) => boolean): Promise<boolean> {
  for (const process of new Set(ancestors.flatMap(({ pid, pgid, session }) => [pid, pgid, session]))) {
    for await (const { session, body } of ledger.read({ pos: 0 }, { process })) {
      const { others = [], ...first } = body as unknown as TaskProcess; // the store returns what its schema wrote
      if ([first, ...others].some(isAbove) && !(await hasEnded(ledger, session))) return true;
    }
  }
  return false;
}

async function hasEnded(ledger: Ledger, session: string): Promise<boolean> {
  const row = await readRow(ledger, "sessions", session);
  return row !== undefined && ENDED.includes(row.state);
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

const LOOSENING = ["allow", "add-dir", "policy", "take-over", "detach", "repair", "rebuild"];
const LOOSER_MODES: readonly string[] = ["auto-edit", "yolo"];

function isGiven(options: Options, name: string): boolean {
  return options.flag(name) || options.text(name) !== undefined || options.list(name).length > 0;
}

import type { Ledger, SessionRow, TaskProcess } from "@assent/core";
import type { CommandSpec, Context, Options } from "./command-spec.ts";
import { CommandError } from "./failure.ts";
import { withStoreIfAny } from "./open-store.ts";
import { sessionRows } from "./recorded-tasks.ts";

/**
 * What a command of a session may do with Assent, under whatever name it starts it. It may look, and go on with what a person left it; it may not speak for
 * the person. So it is refused what decides or loosens, and it has no terminal at which somebody could be asked. Gives back the context to go on with.
 */
export async function withoutPerson(context: Context, spec: CommandSpec): Promise<Context> {
  const why = refusal(spec, context.options);
  // Looking into the store opens it, and that settles a restored backup, which verify is to report first. It asks nobody.
  if (spec.name === "verify" && why === undefined) return context;
  if (!(await isOwnCommand(context))) return context;
  if (why === undefined) return { ...context, io: { ...context.io, stdinIsTTY: false } };
  throw new CommandError("started_by_session", 1, {
    message: `This process was started by a command of an Assent session, and ${why} is for a person.`,
    hint: `Run it from a terminal of your own: assent ${spec.name}`,
  });
}

/**
 * Whether a command of a session started this process. A mark in the environment shows it, its own or that of a process above it. A program that became
 * another one with a clean environment has no mark, but it is, or descends from, the process that the record names, or is still in its group.
 */
async function isOwnCommand(context: Context): Promise<boolean> {
  const { hasMark, processesAbove, startedUnder } = await import("@assent/host");
  const above = processesAbove();
  if (hasMark(context.io.env, above)) return true;
  try {
    return await withStoreIfAny(context, ({ ledger }) => isRecorded(ledger, (recorded) => startedUnder(recorded, above)));
  } catch {
    return false; // a store that cannot be read answers nothing: the command itself says why
  }
}

const ENDED: readonly SessionRow["state"][] = ["done", "failed", "cancelled"];

/** Looks at every session that has not ended. Its holder need not live: a command may have killed it. */
async function isRecorded(ledger: Ledger, isAbove: (recorded: TaskProcess) => boolean): Promise<boolean> {
  for await (const { id, state } of sessionRows(ledger)) {
    if (ENDED.includes(state)) continue;
    for await (const { body } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["call.started", "task.process"] })) {
      const { others = [], ...first } = body as unknown as TaskProcess; // parsing: the store gives back what its own schema wrote
      if ([first, ...others].some(isAbove)) return true;
    }
  }
  return false;
}

/** What only a person may do, in words; undefined: it decides and loosens nothing. */
function refusal({ name, decides, options: taken }: CommandSpec, options: Options): string | undefined {
  if (decides === true) return `assent ${name}`;
  const given = LOOSENING.find((option) => taken.some((one) => one.name === option) && isGiven(options, option));
  if (given !== undefined) return `--${given}`;
  if (name === "trust") return options.flag("show") ? undefined : "assent trust";
  const isLooser = taken.some((one) => one.name === "mode") && LOOSER_MODES.includes(options.text("mode") ?? "");
  if (isLooser) return `--mode ${options.text("mode")}`;
  return options.text("input-format") === "stream-json" ? "answering as a host" : undefined; // a host may answer what waits in other sessions too
}

const LOOSENING = ["allow", "add-dir", "policy", "take-over", "repair", "rebuild"];
const LOOSER_MODES: readonly string[] = ["auto-edit", "yolo"];

function isGiven(options: Options, name: string): boolean {
  return options.flag(name) || options.text(name) !== undefined || options.list(name).length > 0;
}

import type { Ledger, TaskProcess } from "@assent/core";
import type { CommandSpec, Context, Options } from "./command-spec.ts";
import { CommandError } from "./failure.ts";
import { withStoreIfAny } from "./open-store.ts";

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
 * another one with a clean environment has no mark, but is still the process that the record names.
 */
async function isOwnCommand(context: Context): Promise<boolean> {
  const { hasMark, processesAbove } = await import("@assent/host");
  const above = processesAbove();
  if (hasMark(context.io.env, above)) return true;
  const isAbove = ({ pid, processStart }: Pick<TaskProcess, "pid" | "processStart">): boolean =>
    above.some((row) => row.pid === pid && row.start === processStart);
  try {
    return await withStoreIfAny(context, ({ ledger }) => isRecorded(ledger, isAbove));
  } catch {
    return false; // a store that cannot be read answers nothing: the command itself says why
  }
}

type IsAbove = (process: Pick<TaskProcess, "pid" | "processStart">) => boolean;

async function isRecorded(ledger: Ledger, isAbove: IsAbove): Promise<boolean> {
  const sessions = await ledger.pending("sessions", { limit: 1_000, all: true });
  for (const { id, writer } of sessions) {
    if (!writer || !isAbove(writer)) continue;
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
  const answers = options.text("input-format") === "stream-json" && (name === "resume" || options.text("session") !== undefined);
  return answers ? "answering as the host of a session" : undefined;
}

const LOOSENING = ["allow", "add-dir", "policy", "take-over", "repair", "rebuild"];
const LOOSER_MODES: readonly string[] = ["auto-edit", "yolo"];

function isGiven(options: Options, name: string): boolean {
  return options.flag(name) || options.text(name) !== undefined || options.list(name).length > 0;
}

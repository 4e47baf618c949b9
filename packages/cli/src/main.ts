import type { SettingsError } from "@assent/policy";
import { isOptionsOnly, parseCommandLine, wantsJson } from "./command-line/parse.ts";
import type { Context } from "./command-line/spec.ts";
import { COMMANDS } from "./command-line/table.ts";
import type { CommandOfClient } from "./headless/clients/options.ts";
import { asFailure, CommandError } from "./io/failure.ts";
import type { Io } from "./io/io.ts";
import { printFailure } from "./io/output.ts";
import { isGone } from "./io/process-io.ts";
import type { Overrides } from "./overrides.ts";

/** Runs one command line and resolves with its exit code. It never throws. */
export async function main(argv: readonly string[], io: Io, overrides: Overrides = {}): Promise<number> {
  try {
    return await dispatch(argv, io, overrides);
  } catch (error) {
    return isGone(error) ? READER_GONE : report(error, io, wantsJson(argv));
  }
}

const READER_GONE = 130;

async function report(error: unknown, io: Io, json: boolean): Promise<number> {
  const failure = asFailure(error);
  try {
    if (isSettingsError(error)) {
      const { reportSettings } = await import("./desk/policy/problem-text.ts");
      return await reportSettings(io, error, json);
    }
    await printFailure(io, failure, json);
    return failure.exit;
  } catch (unwritable) {
    return isGone(unwritable) ? READER_GONE : failure.exit;
  }
}

/** Compares the name, because only some commands load the class. */
function isSettingsError(error: unknown): error is SettingsError {
  return error instanceof Error && error.name === "SettingsError";
}

/** Loads the translation of other clients' options only for lines that need it, to start fast. */
async function asCommand(argv: readonly string[], io: Io): Promise<CommandOfClient> {
  if (!argv.some((word) => word.startsWith("--input-format") || word.startsWith("--output-format")))
    return { argv: io.stdout.isTTY && io.stdinIsTTY && isOptionsOnly(argv, COMMANDS) ? ["tui", ...argv] : argv };
  const { commandOfFormat } = await import("./headless/clients/options.ts");
  return commandOfFormat(
    argv,
    COMMANDS.map(({ name }) => name),
  );
}

/** A command in the hint looks into the store that was named. */
function inSameStore(error: unknown, flag: string): unknown {
  const { type, exit, message, hint } = asFailure(error);
  return flag !== "" && /^assent (?!tools)[a-z]+(?: --all)?$/.test(hint)
    ? new CommandError(type, exit, { message, hint: hint + flag })
    : error;
}

async function dispatch(given: readonly string[], io: Io, overrides: Overrides): Promise<number> {
  const { argv, client } = await asCommand(given, io);
  const line = parseCommandLine(argv, COMMANDS);
  switch (line.ask) {
    case "version": {
      const { VERSION } = await import("./version.ts");
      await io.stdout.write(`${VERSION}\n`);
      return 0;
    }
    case "help": {
      const { helpText } = await import("./command-line/help.ts");
      await io.stdout.write(helpText(line, COMMANDS));
      return 0;
    }
    case "run": {
      const { options, operands, command } = line;
      const { createAttendance } = await import("./notify/attendance.ts");
      const { mentionsStore } = await import("./store/location.ts");
      const isNamed = options.text("store") !== undefined || !mentionsStore(io.env);
      const env = isNamed ? io.env : (await import("./store/store-setting.ts")).withStoreSetting(io.env);
      const again: Context["main"] = (argv, io) => main(argv, io, overrides);
      const context: Context = {
        io: env === io.env ? io : { ...io, env },
        overrides,
        attendance: createAttendance(),
        options,
        operands,
        commands: COMMANDS,
        main: again,
        ...(command.streams && { streams: command.streams }),
        client,
      };
      try {
        if (command.looks) return await command.run(context);
        const { runChecked } = await import("./command-line/own-process.ts");
        return await runChecked(context, command);
      } catch (error) {
        throw inSameStore(error, options.text("store") === undefined ? "" : (await import("./store/location.ts")).storeFlag(context));
      }
    }
    case "nothing":
      return dispatch(["demo"], io, overrides);
    default:
      return line satisfies never;
  }
}

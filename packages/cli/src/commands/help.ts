import { usageLine } from "../command-line.ts";
import type { CommandSpec, Context } from "../command-spec.ts";
import { COMMANDS } from "../command-table.ts";
import { usageError } from "../failure.ts";
import { commandHelp, overviewHelp } from "../help-text.ts";
import { nearestSpelling } from "../nearest-spelling.ts";
import { printJson } from "../output.ts";

/** Explains one command, or all. */
export async function run({ io, options, operands }: Context): Promise<number> {
  const command = operands.length === 0 ? undefined : named(operands.join(" "));
  if (options.flag("json")) await printJson(io, command ? outline(command) : COMMANDS.map(outline));
  else await io.stdout.write(command ? commandHelp(command) : overviewHelp(COMMANDS));
  return 0;
}

function named(name: string): CommandSpec {
  const found = COMMANDS.find((command) => command.name === name);
  if (found) return found;
  const near = nearestSpelling(
    name,
    COMMANDS.map((command) => command.name),
  );
  throw usageError("help", `unknown command '${name}'. ${near ? `Did you mean '${near}'?` : "See: assent --help"}`);
}

function outline({ name, says, ...command }: CommandSpec): object {
  return {
    name,
    says,
    usage: usageLine({ name, says, ...command }),
    options: command.options.map((option) => ({ name: `--${option.name}`, takes: option.takes, says: option.says })),
  };
}

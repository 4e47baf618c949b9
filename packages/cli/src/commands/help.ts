import { commandHelp, helpBelow, overviewHelp } from "../command-line/help.ts";
import { nearestSpelling } from "../command-line/nearest-spelling.ts";
import { commandsBelow, usageLine } from "../command-line/parse.ts";
import type { CommandSpec, Context } from "../command-line/spec.ts";
import { usageError } from "../io/failure.ts";
import { printJson } from "../io/output.ts";

/** Explains one command, or all. */
export async function run({ io, options, operands, commands }: Context): Promise<number> {
  const below = commandsBelow(operands.join(" "), commands);
  if (below) {
    if (options.flag("json")) await printJson(io, below.map(outline));
    else await io.stdout.write(helpBelow(below));
    return 0;
  }
  const command = operands.length === 0 ? undefined : named(operands.join(" "), commands);
  if (options.flag("json")) await printJson(io, command ? outline(command) : commands.map(outline));
  else await io.stdout.write(command ? commandHelp(command) : overviewHelp(commands));
  return 0;
}

function named(name: string, commands: readonly CommandSpec[]): CommandSpec {
  const found = commands.find((command) => command.name === name);
  if (found) return found;
  const near = nearestSpelling(
    name,
    commands.map((command) => command.name),
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

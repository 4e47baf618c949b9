import { wrapWords } from "../io/display-width.ts";
import { usageError } from "../io/failure.ts";
import { printJson } from "../io/output.ts";
import { capitalized } from "../io/visible-text.ts";
import { nearestSpelling } from "./nearest-spelling.ts";
import { commandsBelow, type HelpRequest, operandText, usageLine } from "./parse.ts";
import type { Command, Context, OptionSpec } from "./spec.ts";

export async function printHelp({ io, options, operands, commands }: Context): Promise<number> {
  const name = operands.join(" ");
  const below = commandsBelow(name, commands);
  const command = below || name === "" ? undefined : commandNamed(name, commands);
  if (options.flag("json")) await printJson(io, command ? commandForm(command) : (below ?? commands).map(commandForm));
  else await io.stdout.write(helpText({ command, below }, commands));
  return 0;
}

export function helpText({ command, below }: Omit<HelpRequest, "ask">, commands: readonly Command[]): string {
  if (command) return commandHelp(command, commands);
  return below ? subcommandHelp(below) : overviewHelp(commands);
}

function commandNamed(name: string, commands: readonly Command[]): Command {
  const found = commands.find((command) => command.name === name);
  if (found) return found;
  const names = commands.map((command) => command.name);
  const near = nearestSpelling(name, names);
  throw usageError("help", `unknown command '${name}'. ${near ? `Did you mean '${near}'?` : "See: assent --help"}`);
}

function commandForm(command: Command): object {
  return {
    name: command.name,
    says: command.summary,
    usage: usageLine(command),
    options: command.options.map(({ name, takes, help }) => ({ name: `--${name}`, takes, says: help })),
  };
}

const GROUPS: readonly (readonly [Command["group"], string])[] = [
  ["run", "Run a model or a tool"],
  ["decide", "Answer and decide"],
  ["look", "Inspect (changes nothing)"],
  ["maintain", "Maintain"],
  ["help", "Help"],
];

/** `assent --help`. */
function overviewHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => commandTitle(command).length));
  const groups = GROUPS.map(([group, name]) => {
    const rows = commands.filter((command) => command.group === group).map((command) => row(commandTitle(command), command.summary, width));
    return `${name}:\n${rows.join("")}`;
  });
  return `Assent runs an AI agent's tool calls (commands, edits, web requests) under your rules.
Allowed calls run, denied calls don't, and the rest wait for your approval.
Every call runs at most once and is recorded.

Usage: assent                      talk to a model in this terminal
       assent COMMAND [options]
       assent COMMAND --help

${groups.join("\n")}
Try it:
  assent demo
  assent call shell --input '{"command":"date > now.txt"}' --on-ask park
  assent approvals
`;
}

const HELP_COLUMNS = 100;

/** `assent COMMAND --help`. */
function commandHelp(command: Command, commands: readonly Command[]): string {
  const below = commands.filter(({ name }) => name.startsWith(`${command.name} `));
  const subcommands = below.length === 0 ? "" : `\nCommands:\n${commandRows(below)}`;
  const options = [...command.options, { name: "help", takes: "nothing", help: "show this" } as const];
  const width = Math.max(...options.map((option) => flag(option).length));
  const details = command.details ? `\n${wrapWords(command.details, HELP_COLUMNS).join("\n")}\n` : "";
  const exits = Object.entries(command.exits ?? {}).map(([code, when]) => row(code, when, 3));
  return `Usage: ${usageLine(command)}

${capitalized(command.summary)}.
${details}
Options:
${options.map((option) => row(flag(option), option.help, width)).join("")}${exits.length > 0 ? `\nExit codes:\n${exits.join("")}` : ""}${subcommands}
Examples:
${command.examples.map((example) => `  ${example}\n`).join("")}`;
}

function subcommandHelp(commands: readonly Command[]): string {
  const [first = ""] = commands[0]?.name.split(" ") ?? [];
  return `Usage: assent ${first} COMMAND [options]\n       assent ${first} COMMAND --help\n\nCommands:\n${commandRows(commands)}`;
}

function commandRows(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => commandTitle(command).length));
  return commands.map((command) => row(commandTitle(command), command.summary, width)).join("");
}

export function commandTitle(command: Command): string {
  const shown = command.operands.filter(({ required }, index) => required || index === 0);
  return [command.name, ...shown.map(operandText)].join(" ");
}

function flag(option: OptionSpec): string {
  switch (option.takes) {
    case "nothing":
      return `--${option.name}`;
    case "choice":
      return `--${option.name} ${option.choices.length > 4 ? option.name.toUpperCase() : option.choices.join("|")}`;
    case "text":
    case "list":
    case "count":
    case "duration":
      return `--${option.name} ${option.value}`;
    default:
      return option satisfies never;
  }
}

function row(left: string, right: string, width: number): string {
  return `  ${left.padEnd(width)}  ${right}\n`;
}

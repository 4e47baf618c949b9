import { operandText, usageLine } from "./parse.ts";
import type { CommandSpec, OptionSpec } from "./spec.ts";

const GROUPS: readonly (readonly [CommandSpec["group"], string])[] = [
  ["run", "Run"],
  ["decide", "Decide"],
  ["look", "Look"],
  ["maintain", "Look after"],
  ["help", "Help"],
];

/** `assent --help`. */
export function overviewHelp(commands: readonly CommandSpec[]): string {
  const width = Math.max(...commands.map((command) => title(command).length));
  const groups = GROUPS.map(([group, name]) => {
    const rows = commands.filter((command) => command.group === group).map((command) => row(title(command), command.says, width));
    return `${name}:\n${rows.join("")}`;
  });
  return `Assent stands between a language model and the world: a model proposes tool calls, a person decides,
each call runs at most once, and all of it is recorded.

Usage: assent COMMAND [options]
       assent COMMAND --help

${groups.join("\n")}
Try it:
  assent demo
  assent call shell --input '{"command":"date > now.txt"}' --on-ask park
  assent approvals
`;
}

/** `assent COMMAND --help`. */
export function commandHelp(command: CommandSpec): string {
  const options = [...command.options, { name: "help", takes: "nothing", says: "show this" } as const];
  const width = Math.max(...options.map((option) => flag(option).length));
  const more = command.more ? `\n${command.more}\n` : "";
  const exits = Object.entries(command.exits ?? {}).map(([code, when]) => row(code, when, 3));
  return `Usage: ${usageLine(command)}

${capital(command.says)}.
${more}
Options:
${options.map((option) => row(flag(option), option.says, width)).join("")}${exits.length > 0 ? `\nExit codes:\n${exits.join("")}` : ""}
Examples:
${command.examples.map((example) => `  ${example}\n`).join("")}`;
}

/** Help of a word that only leads to commands, which are these. */
export function helpBelow(commands: readonly CommandSpec[]): string {
  const width = Math.max(...commands.map((command) => title(command).length));
  const [first = ""] = commands[0]?.name.split(" ") ?? [];
  const rows = commands.map((command) => row(title(command), command.says, width));
  return `Usage: assent ${first} COMMAND [options]\n       assent ${first} COMMAND --help\n\nCommands:\n${rows.join("")}`;
}

function title(command: CommandSpec): string {
  const telling = command.operands.filter(({ required }, index) => required || index === 0);
  return [command.name, ...telling.map(operandText)].join(" ");
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

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

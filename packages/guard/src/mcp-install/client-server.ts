import type { ServerTarget } from "./gateway-command.ts";

/** The command of a server as its client's configuration has it. */
export type ClientCommand = { readonly command: string; readonly args: readonly string[]; readonly variables?: readonly string[] };

/** One server in the configuration of a client. */
export type ClientServer = {
  readonly name: string;
  /** Empty, or what else tells servers of the same name apart: in Claude Code, the project. */
  readonly group: string;
  /** Where its text is. */
  readonly start: number;
  readonly end: number;
  /** A reason: Assent cannot take it over. */
  readonly target: ServerTarget | { readonly type: "unknown"; readonly reason: string };
  /** Its text with another command. */
  readonly withCommand: (command: ClientCommand) => string;
};

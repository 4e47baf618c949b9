import { MODE_NAMES } from "../../command-line/options.ts";
import type { CompletedCommand, IdKind } from "../input/completion.ts";
import { type Binding, keyLines } from "../input/keys.ts";
import type { Block } from "../transcript/block.ts";

/** A slash command. `runs`: the `assent` command whose output it shows. */
export type SlashCommand = CompletedCommand & {
  readonly usage?: string;
  readonly runs?: readonly string[];
  /** Left out of help, which must fit on 24 rows. */
  readonly unlisted?: true;
};

function idAfter(word: string, kind: IdKind): Pick<CompletedCommand, "takes" | "ids"> {
  return { takes: [word], ids: { [word]: kind } };
}

/** All slash commands, in the order of the help. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "help", says: "these commands", unlisted: true },
  { name: "mode", says: "choose how much runs without asking", usage: "MODE", takes: MODE_NAMES },
  { name: "plan", says: "plan first; change nothing until you approve", usage: "[off]", takes: ["off"] },
  { name: "model", says: "show or change the model", usage: "[PROVIDER:NAME]" },
  {
    name: "approvals",
    says: "list what is waiting for an answer",
    usage: "[show ID]",
    runs: ["approvals"],
    ...idAfter("show", "approvals"),
  },
  { name: "grants", says: "list remembered answers", usage: "[revoke ID]", runs: ["grants"], ...idAfter("revoke", "grants") },
  { name: "explain", says: "explain what would happen to a call, and why", usage: "TOOL [INPUT]", ids: { "": "tools" } },
  { name: "proposals", says: "list previewed changes", usage: "[show ID]", runs: ["proposals"], ...idAfter("show", "proposals") },
  { name: "apply", says: "apply a previewed change; /discard [ID] drops it", usage: "[ID]", ids: { "": "proposals" } },
  {
    name: "discard",
    says: "discard a previewed change; the model sees the reason",
    usage: "[ID] [REASON]",
    ids: { "": "proposals" },
    unlisted: true,
  },
  { name: "undo", says: "undo a change", usage: "[ID]", ids: { "": "undoable" } },
  {
    name: "tasks",
    says: "list background tasks, or show one",
    usage: "[stop|resume] [ID]",
    takes: ["stop", "resume"],
    ids: { "": "tasks", stop: "tasks", resume: "tasks" },
  },
  {
    name: "tools",
    says: "list tools; /force TOOL makes the model call one",
    usage: "[NAME|reload]",
    takes: ["reload"],
    ids: { "": "tools" },
  },
  { name: "force", says: "make the model call this tool next", usage: "TOOL", ids: { "": "tools" }, unlisted: true },
  { name: "outside", says: "run the last confined command again, outside the sandbox; asks", usage: "[COMMAND]", unlisted: true },
  { name: "mcp", says: "show the MCP servers and their state", usage: "[restart NAME]", takes: ["restart"] },
  { name: "sessions", says: "list earlier conversations", runs: ["sessions"] },
  { name: "resume", says: "continue an earlier conversation", usage: "SESSION", ids: { "": "sessions" } },
  { name: "compact", says: "summarize older turns for the model" },
  { name: "clear", says: "start a new conversation" },
  { name: "cost", says: "show tokens and cost so far" },
  { name: "quit", says: "leave" },
];

/** How to enter an id. */
export const ID_NOTE = "Tab completes an ID. Its first 6 characters are enough if they are unique.";

export type SlashLine = { readonly command: SlashCommand; readonly words: readonly string[] } | { readonly unknown: string };

/** Parses a slash command; an unambiguous prefix is enough. */
export function readSlash(line: string): SlashLine {
  const [name = "", ...words] = line.slice(1).trim().split(/\s+/);
  const exact = SLASH_COMMANDS.find((command) => command.name === name);
  const near = SLASH_COMMANDS.filter((command) => command.name.startsWith(name));
  const command = exact ?? (name !== "" && near.length === 1 ? near[0] : undefined);
  return command ? { command, words } : { unknown: name };
}

/** True for `/quit`, which never waits. */
export function isLeaving(line: string): boolean {
  const read = line.startsWith("/") ? readSlash(line) : undefined;
  return read !== undefined && "command" in read && read.command.name === "quit";
}

export function slashLines(): readonly string[] {
  const listed = SLASH_COMMANDS.filter(({ unlisted }) => !unlisted);
  const width = Math.max(...listed.map(({ name, usage = "" }) => name.length + usage.length + 2));
  return listed.map(({ name, usage, says }) => `${`/${name}${usage ? ` ${usage}` : ""}`.padEnd(width)}  ${says}`);
}

export function keysPage(bindings: readonly Binding[]): readonly Block[] {
  return [{ type: "page", title: "Keys (/help lists the commands)", text: keyLines(bindings).join("\n") }];
}

export function helpPage(bindings: readonly Binding[]): readonly Block[] {
  const keys = bindings.find(({ action }) => action === "help")?.keys.join(", ");
  return [{ type: "page", title: `Commands${keys === undefined ? "" : ` (${keys} shows the keys)`}`, text: slashLines().join("\n") }];
}

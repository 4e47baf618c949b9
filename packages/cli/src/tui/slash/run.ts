import type { Context } from "../../command-line/spec.ts";
import { failureText } from "../../io/failure.ts";
import { oneLine } from "../../io/visible-text.ts";
import { lastConfined, type PersonCommands } from "../conversation/person-commands.ts";
import type { Turns } from "../conversation/turns.ts";
import { listUndoable } from "../input/completion-ids.ts";
import type { Binding } from "../input/keys.ts";
import type { ConversationView } from "../screen/view.ts";
import { inputFromText } from "../transcript/call-words.ts";
import { captureCommand } from "./captured-command.ts";
import { helpPage, ID_NOTE, readSlash } from "./commands.ts";
import { type ExplainParts, explainWithSession } from "./explain.ts";
import { serversText } from "./mcp.ts";
import { tasksText } from "./tasks.ts";

export type SlashParts = ExplainParts & {
  readonly bindings: () => readonly Binding[];
  readonly turns: Pick<Turns, "isBusy" | "rest" | "compact" | "force">;
  readonly changeMode: (to: string) => Promise<void>;
  readonly changeModel: (to: string) => Promise<void>;
  /** Switches the conversation; undefined starts a new one. */
  readonly change: (session: string | undefined) => Promise<void>;
  readonly commands: Pick<PersonCommands, "run">;
  readonly leave: () => void;
  readonly leaving: AbortSignal;
};

type Act = (parts: SlashParts, words: readonly string[]) => Promise<void> | void;

/** Runs a slash command. Failures are shown on the screen. */
export async function runSlash(parts: SlashParts, line: string): Promise<void> {
  const read = readSlash(line);
  if ("unknown" in read) return say(parts, "", `Unknown command /${read.unknown}. /help lists the commands.`);
  const { command, words } = read;
  try {
    const act = ACTIONS[command.name];
    if (act) await act(parts, words);
    else say(parts, line, await runAssent(parts, [...(command.runs ?? []), ...words]));
  } catch (error) {
    parts.view.append({ type: "note", text: failureText(error), role: "error" });
  }
}

function say({ view }: SlashParts, title: string, text: string): void {
  view.append({ type: "page", title, text });
}

const ACTIONS: Readonly<Record<string, Act>> = {
  help: ({ view, bindings }) => view.append(...helpPage(bindings())),
  quit: ({ leave }) => leave(),
  mode: async (parts, [to]) => {
    if (to === undefined) say(parts, "", `Mode: ${parts.view.state.status.mode}. Change it with /mode default, plan, auto-edit or yolo.`);
    else await parts.changeMode(to);
  },
  plan: async ({ changeMode }, [word]) => changeMode(word === "off" ? "default" : "plan"),
  model: async (parts, [to]) => {
    if (to === undefined) say(parts, "", `Model: ${parts.view.state.status.model || "none"}. Change it with /model provider:name.`);
    else await parts.changeModel(to);
  },
  clear: async ({ change }) => change(undefined),
  resume: async (parts, [session]) => {
    if (session !== undefined) return await parts.change(session);
    say(parts, "/resume SESSION continues one of these", await captureCommand(parts.context, ["sessions"], { columns: parts.columns() }));
  },
  cost: (parts) => say(parts, "", costText(parts.view)),
  tools: async (parts, words) => {
    if (words[0] === "reload") await reloadTools(parts);
    else say(parts, ["/tools", ...words].join(" "), await runAssent(parts, ["tools", ...words, ...flagsFor("tool", parts.context)]));
  },
  explain: async (parts, [tool, ...rest]) => {
    if (tool === undefined) return say(parts, "", "Name a tool and its input: /explain shell git push");
    const input = inputFromText(tool, rest.join(" "));
    const text = await explainWithSession(parts, tool, input);
    say(parts, `/explain ${[tool, ...rest].join(" ")}`, text ?? (await runAssent(parts, ["explain", "--tool", tool, "--input", input])));
  },
  force: (parts, [tool]) => {
    const tools = parts.policy()?.tools.visible() ?? [];
    if (tool === undefined || !tools.some(({ name }) => name === tool))
      return say(parts, "", tool === undefined ? "Name a tool: /force TOOL" : `There is no tool '${oneLine(tool)}'. /tools lists them.`);
    parts.turns.force(tool);
    say(parts, "", `The model must call ${tool} first when it answers your next message.`);
  },
  tasks: async (parts, words) => say(parts, "", await tasksText(parts.current(), words)),
  outside: async (parts, words) => {
    const typed = words.join(" ");
    const last = typed === "" ? await lastConfined(parts.current()?.session) : { line: typed };
    if (!last) return say(parts, "", "No command of this conversation ran confined. Name one: /outside COMMAND");
    const { line, ...place } = last;
    await parts.commands.run(line, { ...place, unconfined: true });
  },
  mcp: async (parts, words) => {
    const set = parts.current()?.agent.servers?.current();
    if (set) return say(parts, "/mcp", await serversText(set, words));
    say(
      parts,
      "/mcp: servers start with your next message",
      await runAssent(parts, ["mcp", "list", ...flagsFor("mcp-config", parts.context)]),
    );
  },
  compact: async (parts) => {
    if (!parts.current()) return say(parts, "", "There is nothing to summarize yet.");
    if (!(await parts.turns.compact())) say(parts, "", "Nothing was summarized: the conversation needs at least two answers.");
  },
  apply: (parts, words) => settleProposal(parts, "apply", words),
  discard: (parts, words) => settleProposal(parts, "discard", words),
  undo: async (parts, words) => {
    if (words.length > 0) return say(parts, `/undo ${words.join(" ")}`, await runAssent(parts, ["undo", ...words]));
    const made = await listUndoable(parts.current());
    const [only, other] = made;
    if (!only) return say(parts, "", "There is nothing to undo in this conversation.");
    const listed = made.map(({ id, label }) => `${id}  ${oneLine(label)}`).join("\n");
    if (other) return say(parts, "/undo ID undoes one of these", `${listed}\n${ID_NOTE}`);
    say(parts, "/undo: the only change of this conversation", listed);
    say(parts, "", await runAssent(parts, ["undo", only.id]));
  },
};

/** Applies or discards the named proposal, or the only one. Words after the ID are the reason, then options such as --file; a discard may have a reason alone. */
async function settleProposal(parts: SlashParts, action: "apply" | "discard", words: readonly string[]): Promise<void> {
  const staged = [...(parts.current()?.session.state.proposals.values() ?? [])].filter(({ state }) => state === "staged");
  const isNamed = words[0]?.startsWith("p_") === true;
  if (action === "apply" && words[0] !== undefined && !isNamed && !words[0].startsWith("--"))
    return say(parts, "", `'${oneLine(words[0])}' is not the ID of a previewed change. /proposals lists them. Nothing was applied.`);
  const [only, other] = staged;
  const id = isNamed ? words[0] : other ? undefined : only?.id;
  if (id === undefined) {
    if (!other) return say(parts, "", "No previewed change is waiting in this conversation. /proposals lists those of all conversations.");
    const listed = staged.map((row) => `${row.id}  ${oneLine(row.label)}`).join("\n");
    return say(parts, `/${action} ID settles one of these`, `${listed}\n${ID_NOTE}`);
  }
  const more = words.slice(isNamed ? 1 : 0);
  const first = action === "apply" ? more.findIndex((word) => word.startsWith("--")) : -1; // --file, --hunk: a part
  const [reason, options] = first === -1 ? [more.join(" "), []] : [more.slice(0, first).join(" "), more.slice(first)];
  say(parts, `/${action} ${id}`, await runAssent(parts, [action, id, ...(reason === "" ? [] : ["--reason", reason]), ...options]));
}

/** Reloads tools between turns, never inside one. The loader reports the result. */
async function reloadTools(parts: SlashParts): Promise<void> {
  const { turns } = parts;
  const policy = parts.policy();
  if (!policy) return say(parts, "", "No tools are loaded yet. They load with your next message.");
  policy.requestToolReload();
  if (turns.isBusy()) say(parts, "", "Custom tools reload before the model's next turn.");
  await turns.rest();
  if (parts.policy() === policy && !parts.leaving.aborted) await policy.reloadToolsIfDue();
}

/** Passes on the files given at the start. */
function flagsFor(option: "tool" | "mcp-config", { options }: Context): readonly string[] {
  const workspace = options.text("workspace");
  return [...options.list(option).flatMap((file) => [`--${option}`, file]), ...(workspace === undefined ? [] : ["--workspace", workspace])];
}

async function runAssent({ context, columns }: SlashParts, argv: readonly string[]): Promise<string> {
  return (await captureCommand(context, argv, { columns: columns() })) || "Nothing to show.";
}

function costText({ state }: ConversationView): string {
  const { tokens, cost, context } = state.status;
  const price = cost === undefined ? "The price of this model is unknown." : `$${cost.toFixed(4)}`;
  const full = context === undefined ? "" : `; ${Math.round(context * 100)} % of the model's context is used`;
  return `${tokens} tokens${full}. ${price}`;
}

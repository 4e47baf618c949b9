import type { Context } from "../../command-line/spec.ts";
import { asFailure, hintText } from "../../io/failure.ts";
import { oneLine } from "../../io/visible-text.ts";
import type { Turns } from "../conversation/turns.ts";
import { undoable } from "../input/completion-ids.ts";
import type { Binding } from "../input/keys.ts";
import type { Stage } from "../screen/stage.ts";
import { inputAbout } from "../transcript/call-words.ts";
import { capturedCommand } from "./captured-command.ts";
import { helpPage, ID_NOTE, readSlash } from "./commands.ts";
import { type ExplainParts, explainNow } from "./explain.ts";
import { tasksText } from "./tasks.ts";

/** What commands of the prompt act on. */
export type SlashParts = ExplainParts & {
  readonly bindings: () => readonly Binding[];
  readonly turns: Pick<Turns, "isBusy" | "rest" | "compact" | "force">;
  readonly changeMode: (to: string) => Promise<void>;
  readonly changeModel: (to: string) => Promise<void>;
  /** Another conversation; undefined: a new one. */
  readonly change: (session: string | undefined) => Promise<void>;
  readonly leave: () => void;
  /** Aborts when the person leaves. */
  readonly leaving: AbortSignal;
};

type Act = (parts: SlashParts, words: readonly string[]) => Promise<void> | void;

/** Does what a line that begins with a slash says. Whatever goes wrong is said on the screen. */
export async function runSlash(parts: SlashParts, line: string): Promise<void> {
  const read = readSlash(line);
  if ("unknown" in read) return say(parts, "", `Unknown command /${read.unknown}. /help lists the commands.`);
  const { command, words } = read;
  try {
    const act = ACTS[command.name];
    if (act) await act(parts, words);
    else say(parts, line, await ownCommand(parts, [...(command.runs ?? []), ...words]));
  } catch (error) {
    const { message, hint } = asFailure(error);
    parts.stage.say({ type: "note", text: hint === "" ? message : `${message} ${hintText(hint)}`, role: "error" });
  }
}

function say({ stage }: SlashParts, title: string, text: string): void {
  stage.say({ type: "page", title, text });
}

const ACTS: Readonly<Record<string, Act>> = {
  help: ({ stage, bindings }) => stage.say(...helpPage(bindings())),
  quit: ({ leave }) => leave(),
  mode: async (parts, [to]) => {
    if (to === undefined) say(parts, "", `Mode: ${parts.stage.shown.status.mode}. Change it with /mode default, plan, auto-edit or yolo.`);
    else await parts.changeMode(to);
  },
  plan: async ({ changeMode }, [word]) => changeMode(word === "off" ? "default" : "plan"),
  model: async (parts, [to]) => {
    if (to === undefined) say(parts, "", `Model: ${parts.stage.shown.status.model || "none"}. Change it with /model provider:name.`);
    else await parts.changeModel(to);
  },
  clear: async ({ change }) => change(undefined),
  resume: async (parts, [session]) => {
    if (session !== undefined) return await parts.change(session);
    say(parts, "/resume SESSION continues one of these", await capturedCommand(parts.context, ["sessions"], parts.columns()));
  },
  cost: (parts) => say(parts, "", costText(parts.stage)),
  tools: async (parts, words) => {
    if (words[0] === "reload") await reloadTools(parts);
    else say(parts, ["/tools", ...words].join(" "), await ownCommand(parts, ["tools", ...words, ...toolFlags(parts.context)]));
  },
  explain: async (parts, [tool, ...rest]) => {
    if (tool === undefined) return say(parts, "", "Name a tool and its input: /explain shell git push");
    const input = inputAbout(tool, rest.join(" "));
    const text = await explainNow(parts, { tool, input });
    say(parts, `/explain ${[tool, ...rest].join(" ")}`, text ?? (await ownCommand(parts, ["explain", "--tool", tool, "--input", input])));
  },
  force: (parts, [tool]) => {
    const tools = parts.policy()?.tools.visible() ?? [];
    if (tool === undefined || !tools.some(({ name }) => name === tool))
      return say(parts, "", tool === undefined ? "Name a tool: /force TOOL" : `There is no tool '${oneLine(tool)}'. /tools lists them.`);
    parts.turns.force(tool);
    say(parts, "", `The model must call ${tool} first when it answers your next message.`);
  },
  tasks: async (parts, words) => say(parts, "", await tasksText(parts.current(), words)),
  compact: async (parts) => {
    if (!parts.current()) return say(parts, "", "There is nothing to summarize yet.");
    if (!(await parts.turns.compact())) say(parts, "", "Nothing was summarized: the conversation needs at least two answers.");
  },
  apply: (parts, words) => settleOne(parts, "apply", words),
  discard: (parts, words) => settleOne(parts, "discard", words),
  undo: async (parts, words) => {
    if (words.length > 0) return say(parts, `/undo ${words.join(" ")}`, await ownCommand(parts, ["undo", ...words]));
    const made = await undoable(parts.current());
    const [only, other] = made;
    if (!only) return say(parts, "", "There is nothing to undo in this conversation.");
    const listed = made.map(({ id, label }) => `${id}  ${oneLine(label)}`).join("\n");
    if (other) return say(parts, "/undo ID undoes one of these", `${listed}\n${ID_NOTE}`);
    say(parts, "/undo: the only change of this conversation", listed);
    say(parts, "", await ownCommand(parts, ["undo", only.id]));
  },
};

/** Applies or discards the proposal that is named, or the only one of this conversation. Words after the ID are the reason; a discard may have a reason alone. */
async function settleOne(parts: SlashParts, action: "apply" | "discard", words: readonly string[]): Promise<void> {
  const staged = [...(parts.current()?.session.state.proposals.values() ?? [])].filter(({ state }) => state === "staged");
  const isNamed = words[0]?.startsWith("p_") === true;
  if (action === "apply" && words[0] !== undefined && !isNamed)
    return say(parts, "", `'${oneLine(words[0])}' is not the ID of a previewed change. /proposals lists them. Nothing was applied.`);
  const [only, other] = staged;
  const id = isNamed ? words[0] : other ? undefined : only?.id;
  if (id === undefined) {
    if (!other) return say(parts, "", "No previewed change is waiting in this conversation. /proposals lists those of all conversations.");
    const listed = staged.map((row) => `${row.id}  ${oneLine(row.label)}`).join("\n");
    return say(parts, `/${action} ID settles one of these`, `${listed}\n${ID_NOTE}`);
  }
  const reason = words.slice(isNamed ? 1 : 0).join(" ");
  say(parts, `/${action} ${id}`, await ownCommand(parts, [action, id, ...(reason === "" ? [] : ["--reason", reason])]));
}

/** Never inside a turn: with the next one that begins, or as soon as none is under way. What came of it is told by whoever loads them. */
async function reloadTools(parts: SlashParts): Promise<void> {
  const { turns } = parts;
  const policy = parts.policy();
  if (!policy) return say(parts, "", "No tools are loaded yet. They load with your next message.");
  policy.requestToolReload();
  if (turns.isBusy()) say(parts, "", "Custom tools reload before the model's next turn.");
  await turns.rest();
  if (parts.policy() === policy && !parts.leaving.aborted) await policy.reloadToolsIfDue();
}

/** Options that make `/tools` list the custom tools that were given at the start. */
function toolFlags({ options }: Context): readonly string[] {
  const workspace = options.text("workspace");
  return [...options.list("tool").flatMap((file) => ["--tool", file]), ...(workspace === undefined ? [] : ["--workspace", workspace])];
}

async function ownCommand({ context, columns }: SlashParts, argv: readonly string[]): Promise<string> {
  return (await capturedCommand(context, argv, columns())) || "Nothing to show.";
}

function costText({ shown }: Stage): string {
  const { tokens, cost, context } = shown.status;
  const price = cost === undefined ? "The price of this model is unknown." : `$${cost.toFixed(4)}`;
  const full = context === undefined ? "" : `; ${Math.round(context * 100)} % of the model's context is used`;
  return `${tokens} tokens${full}. ${price}`;
}

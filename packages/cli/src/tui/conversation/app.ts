import type { Tasks } from "@assent/agent";
import type { By, Session } from "@assent/core";
import { SettingsError } from "@assent/policy";
import type { FollowedPolicy } from "../../compose/follow-policy.ts";
import type { FrontEnd, SessionObserver } from "../../compose/front-end.ts";
import type { WorkPlace } from "../../compose/place.ts";
import { type RevisionParts, revisionParts } from "../../desk/approvals/revise.ts";
import { asFailure, failureText } from "../../io/failure.ts";
import { oneLine } from "../../io/visible-text.ts";
import { personBy } from "../../io/who.ts";
import type { SettleProposal } from "../cards/proposal-cards.ts";
import { askTrust } from "../cards/trust-card.ts";
import type { CompletionParts } from "../input/completion.ts";
import { listIds } from "../input/completion-ids.ts";
import { promptHistory } from "../input/history.ts";
import type { Action, Binding } from "../input/keys.ts";
import type { ConversationView } from "../screen/view.ts";
import { captureCommand } from "../slash/captured-command.ts";
import { isLeaving, keysPage } from "../slash/commands.ts";
import { runSlash, type SlashParts } from "../slash/run.ts";
import type { Block } from "../transcript/block.ts";
import { describePause } from "../transcript/task-ends.ts";
import { type Conversations, makeConversations, waitsForPerson } from "./conversations.ts";
import { confirmLeaving } from "./leaving.ts";
import { type PersonCommand, type PersonCommands, runPersonCommand, trackPersonCommands } from "./person-commands.ts";
import { holdEarlyLines } from "./queued-prompts.ts";
import { type SessionFeed, sessionFeed } from "./session-feed.ts";
import type { SharedParts } from "./tui-session.ts";
import { makeTurns, type Turns } from "./turns.ts";

export type LiveSettings = () => ReturnType<FollowedPolicy["source"]["settings"]> | undefined;

export type DoorParts = {
  readonly by: By;
  readonly settings: LiveSettings;
  /** How an edited request is judged; undefined if no session is open. */
  readonly revising: () => RevisionParts | undefined;
  /** Aborts when the person leaves; open approvals stay open. */
  readonly leaving: AbortSignal;
  readonly attend: (session: Session) => SessionObserver;
  readonly settle: SettleProposal;
};

export type AppParts = Omit<SharedParts, "door" | "onDrained"> & {
  readonly view: ConversationView;
  readonly bindings: () => readonly Binding[];
  readonly place: WorkPlace;
  readonly columns: () => number;
  readonly door: (parts: DoorParts) => FrontEnd;
  readonly leave: () => void;
};

/** The terminal app behind a screen or a line terminal. */
export type App = {
  /** Takes a line of the person; resolves when everything it started has ended. */
  readonly submit: (text: string) => Promise<void>;
  readonly act: (action: Action) => void;
  readonly ids: CompletionParts["ids"];
  /** Interrupts, and returns the queued prompts. */
  readonly stop: () => readonly string[];
  /** Reads settings, asks about trust, and resumes a session or sends the first prompt. */
  readonly start: (begin: { readonly session: string | undefined; readonly prompt: string | undefined }) => Promise<void>;
  /** Shuts down. Resolves with the exit code and the session, if one was open. */
  readonly end: () => ReturnType<Conversations["leave"]>;
};

type AppState = {
  readonly parts: AppParts;
  readonly shared: SharedParts;
  readonly conversations: Conversations;
  readonly turns: Turns;
  readonly feed: SessionFeed;
  readonly leaving: AbortController;
  readonly by: By;
  readonly commands: PersonCommands;
};

export function createApp(parts: AppParts): App {
  const wired = wireApp(parts);
  const { view } = parts;
  const { turns, conversations, commands, leaving } = wired;
  const history = promptHistory(parts.store.directory, parts.place.workspace);
  const early = holdEarlyLines(view);
  let beginning: Promise<boolean> = Promise.resolve(false);
  const { current, policy, changeMode, changeModel } = conversations;
  const { leave, stay } = confirmLeaving({ tasks: () => current()?.agent.tasks.list() ?? [], hint: view.hint, leave: parts.leave });
  const change: SlashParts["change"] = (id) => switchConversation(wired, id);
  const slash: SlashParts = { ...parts, leave, leaving: leaving.signal, current, policy, turns, changeMode, changeModel, change, commands };
  return {
    submit: async (text) => {
      const said = text.trim();
      if (said === "") return;
      view.remember([said]);
      void history.add(said).then((problem) => problem !== undefined && view.hint(problem));
      if (!isLeaving(said)) {
        stay();
        await early.turnOf(said);
      }
      if (said.startsWith("/") && !said.startsWith("/mcp__")) await runSlash(slash, said);
      else if (said.startsWith("!")) await commands.run(said.slice(1).trim());
      else await turns.send(said);
    },
    act: (action) => {
      if (action === "interrupt" && !commands.stop()) turns.interrupt();
      if (action === "leave") leave();
      if (action === "help") view.append(...keysPage(parts.bindings()));
      if (action === "mode") void reportFailure(view, () => changeMode(NEXT[view.state.status.mode] ?? "default"));
    },
    stop: () => {
      if (commands.stop()) return [];
      const unsaid = turns.withdraw();
      turns.interrupt();
      return unsaid;
    },
    ids: (kind) => listIds(kind, { ledger: parts.store.ledger, current, tools: () => toolNames(policy()) }),
    start: async ({ session, prompt }) => {
      view.remember(await history.load());
      beginning = beginConversation(wired, session);
      const isThere = await beginning;
      const opened = conversations.current();
      if (opened && parts.context.options.flag("tasks")) view.append(...(await resumePaused(opened.agent.tasks)));
      if (leaving.signal.aborted) return;
      const first = isThere && session !== undefined ? turns.resume() : undefined;
      const next = isThere && prompt !== undefined ? turns.send(prompt) : first;
      early.open();
      await next;
    },
    end: () => shutDown(wired, beginning),
  };
}

async function shutDown(
  { parts, conversations, turns, feed, leaving, commands }: AppState,
  beginning: Promise<unknown>,
): ReturnType<App["end"]> {
  const isAsked = waitsForPerson(conversations.current());
  leaving.abort();
  await Promise.race([beginning.catch(() => false), parkingTime(parts)]);
  if (isAsked) await Promise.race([turns.idle(), parkingTime(parts)]); // open approvals stay open; only running work is interrupted
  turns.interrupt();
  await Promise.all([turns.idle(), commands.idle()]);
  const left = await conversations.leave();
  await feed.idle();
  return left;
}

const PARKING_MS = 2_000;

function parkingTime({ ports }: AppParts): Promise<void> {
  return new Promise((resolve) => void ports.clock.timer(PARKING_MS, resolve));
}

const NEXT: Readonly<Record<string, string>> = { default: "plan", plan: "auto-edit", "auto-edit": "default", yolo: "default" };

/** Stands for the person's own calls; no session has this id. */
const PERSON = "";

function wireApp(parts: AppParts): AppState {
  const { view, ports, cancelling, place } = parts;
  const leaving = new AbortController();
  const by = personBy({ door: "tui", from: "terminal" });
  const now = (): number => ports.clock.now();
  const turns = makeTurns({
    view,
    now,
    signal: cancelling.signal,
    leaving: leaving.signal,
    open: (title) => conversations.open(title),
  });
  const feed = sessionFeed(view, turns.noticeStarted);
  const settings: LiveSettings = () => conversations.current()?.policy.source.settings();
  const revising = (): RevisionParts | undefined => {
    const made = conversations.current();
    return made && revisionParts(made.policy, ports, made.agent.modes.current);
  };
  const settle: SettleProposal = async (action, proposal, { reason, part }) => {
    const argv = [action, proposal, ...(reason === "" ? [] : ["--reason", reason]), ...(part ? ["--part", "-"] : [])];
    const text = await captureCommand(parts.context, argv, { columns: parts.columns(), ...(part && { stdin: JSON.stringify(part) }) });
    view.append({ type: "page", title: "", text });
  };
  const door: SharedParts["door"] = (root) =>
    parts.door({
      by,
      settings,
      revising,
      settle,
      leaving: leaving.signal,
      attend: root === PERSON ? feed.attendPerson : feed.attend(root),
    });
  const shared: SharedParts = { ...parts, door, onDrained: turns.noticeEnded };
  const conversations = makeConversations({ shared, view, place });
  const commands = trackPersonCommands(view, (line, stopped, input) => {
    const signal = AbortSignal.any([cancelling.signal, leaving.signal, stopped]);
    return runCommand({ view, shared, conversations, turns }, { line, signal, ...(input && { input }) });
  });
  return { parts, shared, conversations, turns, feed, leaving, by, commands };
}

async function reportFailure(view: ConversationView, work: () => Promise<unknown>): Promise<boolean> {
  return await work().then(
    () => true,
    (error: unknown) => {
      sayFailure(view, error);
      return false;
    },
  );
}

function sayFailure(view: ConversationView, error: unknown): void {
  view.append({ type: "note", text: failureText(error), role: "error" });
  view.state.status = { ...view.state.status, note: "" };
}

/** False if there is no conversation to continue. Broken settings end the program. */
async function beginConversation(wired: AppState, session: string | undefined): Promise<boolean> {
  const { parts, conversations, by } = wired;
  const { view, store, place, ports } = parts;
  const confirm = confirmUntilLeft(wired);
  if (session === undefined && parts.context.options.text("policy") === undefined)
    await askTrust({ confirm, ledger: store.ledger, workspace: place.workspace, by, now: () => ports.clock.now() });
  try {
    await (session === undefined ? conversations.prepare() : conversations.change(session));
    return true;
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    sayFailure(view, error);
    if (session === undefined && asFailure(error).type === "unknown_model") await offerDemonstration(parts, confirm);
    return false;
  }
}

/** Leaving counts as no. */
function confirmUntilLeft({ parts: { view }, leaving: { signal } }: AppState): ConversationView["confirm"] {
  const left = new Promise<false>((resolve) => signal.addEventListener("abort", () => resolve(false), { once: true }));
  return (confirming) => Promise.race([view.confirm(confirming), left]);
}

async function offerDemonstration({ view, context, columns }: AppParts, confirm: ConversationView["confirm"]): Promise<void> {
  const wanted = await confirm({
    title: "No model is set up yet",
    lines: ["A demonstration with a scripted model runs offline, in a temporary directory."],
    yes: "Show the demonstration",
    no: "Not now; choose a model with /model provider:name",
  });
  if (wanted) view.append({ type: "page", title: "assent demo", text: await captureCommand(context, ["demo"], { columns: columns() }) });
}

async function switchConversation({ conversations, turns }: AppState, id: string | undefined): Promise<void> {
  turns.interrupt();
  await turns.idle();
  await conversations.change(id);
  if (id !== undefined) await turns.resume();
}

function toolNames(policy: FollowedPolicy | undefined): readonly string[] {
  return (policy?.tools.list() ?? []).map(({ name }) => name);
}

type CommandParts = Pick<AppState, "shared" | "conversations" | "turns"> & { readonly view: ConversationView };

async function runCommand(
  { view, shared, conversations, turns }: CommandParts,
  command: Pick<PersonCommand, "line" | "input" | "signal">,
): Promise<void> {
  const { line } = command;
  if (line === "") return view.hint("Type a command after the exclamation mark.");
  await reportFailure(view, async () => {
    const main = await conversations.open(`! ${line}`);
    await runPersonCommand(shared, main, { ...command, door: shared.door(PERSON), tell: turns.add });
  });
}

/** Resumes every paused background agent that can be. Resolves with a note on each. */
async function resumePaused(tasks: Tasks): Promise<readonly Block[]> {
  const blocks: Block[] = [];
  for (const { id, agent, description, status, resumable, blockedReason } of tasks.list()) {
    if (status !== "paused") continue;
    const refused =
      resumable === false ? `stays paused: ${describePause(blockedReason ?? "restart")}` : (await tasks.resume(id, "person"))?.message;
    const text = `${id}  ${oneLine(agent)}: ${oneLine(description)} ${refused ?? "resumed"}`;
    blocks.push({ type: "note", text, role: refused === undefined ? "dim" : "warning" });
  }
  return blocks;
}

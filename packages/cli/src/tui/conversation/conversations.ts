import { MODES } from "@assent/core";
import type { FollowedPolicy } from "../../compose/follow-policy.ts";
import type { WorkPlace } from "../../compose/place.ts";
import { listWaitingIn } from "../../desk/approvals/waiting-list.ts";
import { CommandError } from "../../io/failure.ts";
import { findRow } from "../../store/find-row.ts";
import type { ConversationView } from "../screen/view.ts";
import { describeTask, endingTasks, type LeaveReport } from "./leaving.ts";
import { replayTranscript } from "./replay.ts";
import { beginSession, type PreparedSession, prepareSession, resumeSession, type SharedParts, type TuiSession } from "./tui-session.ts";

export type Conversations = {
  /** Reads settings and finds the model ahead of the first prompt. */
  readonly prepare: () => Promise<void>;
  /** The session; created when first needed. */
  readonly open: (title: string) => Promise<TuiSession>;
  readonly current: () => TuiSession | undefined;
  /** Undefined until settings are read. */
  readonly policy: () => FollowedPolicy | undefined;
  /** Switches to another session; undefined starts a new one with the next prompt. */
  readonly change: (session: string | undefined) => Promise<void>;
  readonly changeMode: (to: string) => Promise<void>;
  readonly changeModel: (to: string) => Promise<void>;
  readonly leave: () => Promise<LeaveReport>;
};

export type ConversationParts = { readonly shared: SharedParts; readonly view: ConversationView; readonly place: WorkPlace };

type ConversationsState = {
  prepared: PreparedSession | undefined;
  opening: Promise<TuiSession> | undefined;
  opened: TuiSession | undefined;
  /** Chosen before there was a session. */
  mode: string | undefined;
  model: string | undefined;
};

const SHOWN_AGAIN = 200;

export function makeConversations(parts: ConversationParts): Conversations {
  const { shared, view, place } = parts;
  const state: ConversationsState = { prepared: undefined, opening: undefined, opened: undefined, mode: undefined, model: undefined };
  const ready = async (): Promise<PreparedSession> => {
    const prepared = state.prepared ?? (await prepareSession(shared, place, state.model));
    state.prepared = prepared;
    view.configure(prepared.policy.source.settings());
    showModeAndModel(view, { mode: state.mode ?? prepared.policy.source.current().mode, model: prepared.chosen.id });
    return prepared;
  };
  const begin = async (title: string): Promise<TuiSession> => {
    const prepared = await ready();
    const made = await beginSession(shared, prepared, title);
    state.prepared = undefined;
    if (state.mode !== undefined) await made.agent.modes.change(state.mode, "person");
    return adopt(parts, state, made);
  };
  const leave = async (): ReturnType<Conversations["leave"]> => {
    const made = await state.opening?.catch(() => undefined);
    state.prepared?.policy.source.close();
    Object.assign(state, { prepared: undefined, opening: undefined, opened: undefined, mode: undefined });
    if (!made) return { exit: 0, session: undefined, waiting: [], ended: [], paused: [] };
    const { session, agent } = made;
    const running = endingTasks(agent.tasks.list());
    const exit = await made.leave();
    const over = running.filter(({ id }) => !session.state.tasks.has(id)).map(describeTask);
    const paused = [...session.state.tasks.values()].filter((task) => task.paused).map((task) => describeTask({ ...task, id: task.task }));
    return { exit, session: session.id, waiting: exit === PARKED ? await listWaitingIn(session) : [], ended: over, paused };
  };
  const resume = async (id: string): Promise<TuiSession> => adopt(parts, state, await resumeSession(shared, id));
  return {
    leave,
    prepare: async () => void (await ready()),
    current: () => state.opened,
    policy: () => (state.opened ?? state.prepared)?.policy,
    open: (title) => {
      state.opening ??= begin(title).catch((error: unknown) => {
        state.opening = undefined;
        throw error;
      });
      return state.opening;
    },
    change: async (id) => {
      const row = id === undefined ? undefined : await findRow(shared.store.ledger, "sessions", id);
      const { ended } = await leave();
      if (ended.length > 0) view.append({ type: "note", text: `Ended: ${ended.join(", ")}`, role: "warning" });
      view.state.status = { ...view.state.status, tokens: 0, cost: undefined, context: undefined };
      if (!row) return await ready().then(() => view.append({ type: "note", text: "New conversation.", role: "accent" }));
      await showReplay(parts, row.id);
      state.opening = resume(row.id);
      await state.opening;
    },
    changeMode: (to) => changeMode(parts, state, to),
    changeModel: (to) => changeModel(parts, state, { to, ready }),
  };
}

const PARKED = 75;

export function waitsForPerson(made: TuiSession | undefined): boolean {
  if (!made) return false;
  const { calls, questions, tasks } = made.session.state;
  const isApproval = [...calls.values()].some(({ state }) => state === "waiting");
  return isApproval || questions.size > 0 || [...tasks.values()].some(({ paused }) => paused?.blocked === "approval");
}

function showModeAndModel(view: ConversationView, { mode, model }: { readonly mode: string; readonly model: string }): void {
  view.state.status = { ...view.state.status, mode, model, note: "" };
  view.changed();
}

function adopt({ view }: ConversationParts, state: ConversationsState, made: TuiSession): TuiSession {
  state.opened = made;
  view.configure(made.policy.source.settings());
  view.state.tasks = () => made.agent.tasks.list();
  view.state.isMarkdown = (name) => {
    const tool = made.policy.tools.get(name);
    return tool !== undefined && tool.definition.isOutputMarkdown !== false;
  };
  showModeAndModel(view, { mode: made.agent.modes.mode(), model: made.session.state.model ?? made.chosen.id });
  return made;
}

async function showReplay({ shared: { store }, view }: ConversationParts, id: string): Promise<void> {
  const { settled, open } = await replayTranscript(store.ledger, id);
  const earlier = settled.length - SHOWN_AGAIN;
  const note = earlier > 0 ? `${earlier} earlier entries are not shown. See all of them with: assent log ${id}` : `Session ${id}`;
  view.append({ type: "note", text: note, role: "dim" }, ...settled.slice(-SHOWN_AGAIN));
  view.update((transcript) => ({ ...open, blocks: [...transcript.blocks, ...open.blocks] }));
}

async function changeMode({ view }: ConversationParts, state: ConversationsState, to: string): Promise<void> {
  if (!MODES.some((mode) => mode === to))
    throw new CommandError("usage", 2, { message: `Unknown mode '${to}'. Modes: ${MODES.join(", ")}.` });
  const { opened, prepared } = state;
  const source = opened?.policy.source ?? prepared?.policy.source;
  if (source?.settings()["permissions.lock"].some((locked) => locked === to))
    throw new CommandError("not_allowed", 1, { message: `Mode '${to}' is locked by your settings.` });
  if (to === "yolo" && !(await confirmYolo(view))) return;
  if (opened) return await opened.agent.modes.change(to, "person");
  state.mode = to;
  showModeAndModel(view, { mode: to, model: view.state.status.model });
  view.hint(`Mode: ${to}.`);
}

function confirmYolo({ confirm }: ConversationView): Promise<boolean> {
  return confirm({
    title: "Mode yolo: run calls without asking?",
    lines: [
      "Every call runs without asking, unless a rule denies it or asks about it.",
      "Deny rules, ask rules and safeguards still apply.",
    ],
    yes: "Turn it on for this session",
    no: "Keep the current mode",
  });
}

type ConversationChoice = { readonly to: string; readonly ready: () => Promise<PreparedSession> };

async function changeModel({ view }: ConversationParts, state: ConversationsState, { to, ready }: ConversationChoice): Promise<void> {
  const { opened } = state;
  if (!opened) {
    state.prepared?.policy.source.close();
    state.prepared = undefined;
    state.model = to;
    await ready();
    return view.hint(`Model: ${to}.`);
  }
  await opened.chosen.model(to);
  const { session } = opened;
  const from = session.state.model;
  if (from !== to) await session.record([session.draft("model.changed", { from, to, by: "person" })], "normal");
  showModeAndModel(view, { mode: view.state.status.mode, model: to });
}

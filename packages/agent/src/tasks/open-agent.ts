import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { type Clock, type EventBodies, type Ids, openSession, ParkRequest, type Session, type SessionOptions } from "@assent/core";
import type { LoadedAgent } from "../agents/load.ts";
import { type Conversation, createConversation } from "../loop/conversation.ts";
import type { ConversationDeps, RunEnd } from "../loop/conversation-state.ts";
import { forkText, readHistory } from "../loop/history/recorded-history.ts";
import { isGoal, makeProgress, type Progress, recordedProgress } from "./progress.ts";

/** What an agent is built as; nothing of it changes while the agent lives. */
export type AgentSpec = {
  /** Its id in the registry. */
  readonly task: string;
  /** Undefined: a fork. */
  readonly definition: LoadedAgent | undefined;
  readonly mode: string;
  readonly model: string | null;
  /** It runs on its own; nobody waits for it. */
  readonly background: boolean;
  readonly parent: AgentNode;
  /** The launching call. */
  readonly call: string;
  readonly description: string;
};

/** An agent that can start others: the main one, or one that runs. */
export type AgentNode = {
  readonly session: Session;
  /** From `main` down to its own name. */
  readonly path: readonly string[];
  /** The sessions of those above it, the nearest first. */
  readonly above: readonly string[];
  /** It is a task, or runs inside one. */
  readonly background: boolean;
  readonly talk: () => ConversationDeps;
  /** Undefined: there was none in this process yet. */
  readonly conversation: () => Conversation | undefined;
};

/** What a host gives an agent to work with. */
export type AgentEquipment = {
  /** Everything a conversation stands on but what the runtime gives it. */
  readonly talk: Omit<ConversationDeps, "session" | "clock" | "ids" | "maxTurns">;
  /** A script goes on behind the turn this names. */
  readonly resumeAfter?: (providerId: string | null) => void;
  /** The agent came to its goal. What this throws, a script's complaint, is for the host to know. */
  readonly completed?: () => void;
  readonly close: () => Promise<void>;
};

/** What agents are built with. */
export type AgentHost = {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Makes dispatcher, tools, model and prompt of an agent. Rejects with why it cannot be. */
  readonly equip: (session: Session, spec: AgentSpec) => Promise<AgentEquipment>;
};

/** An agent, built and not yet running. */
export type OpenedAgent = {
  readonly node: AgentNode;
  readonly session: Session;
  readonly progress: Progress;
  readonly begin: (prompt: string, signal: AbortSignal) => Promise<RunEnd>;
  readonly goOn: (signal: AbortSignal) => Promise<RunEnd>;
  /** Goes on from the record: first the calls that were left open, then the model. */
  readonly takeUp: (prompt: string, signal: AbortSignal) => Promise<RunEnd>;
  readonly completed: () => void;
  readonly close: (reason: EventBodies["session.closed"]["reason"], exit: number) => Promise<void>;
};

/** Builds an agent with a session of its own; with `id` on the session of an earlier process. */
export async function openAgent(bench: AgentHost, spec: AgentSpec, id?: string): Promise<OpenedAgent> {
  const { parent } = spec;
  const { ledger, endHolder } = parent.session;
  const holder = { ...parent.session.holder, door: "agent" };
  const options: SessionOptions = id === undefined ? { holder, create: newSession(spec) } : { holder, id, takeOver: true };
  const session = await openSession({ ledger, clock: bench.clock, ids: bench.ids, ...(endHolder && { endHolder }) }, options);
  const progress = id === undefined ? makeProgress() : await recordedProgress(ledger, session.id);
  const listening = session.listen(progress.take);
  try {
    const prefix = id === undefined ? await inherited(spec, session) : []; // the parent waits for its call, and says nothing meanwhile
    const equipment = await bench.equip(session, spec);
    await equipment.talk.model(spec.model);
    return agentOn({ bench, spec, session, progress, prefix, equipment, listening });
  } catch (error) {
    listening.close();
    await session.close("failed", 1).catch(() => undefined);
    throw error;
  }
}

type SessionStart = Extract<SessionOptions, { readonly create: unknown }>["create"];

function newSession({ parent, definition, task, call, mode, model, description }: AgentSpec): SessionStart {
  const { id, state } = parent.session;
  const { cwd = "", workspace = cwd, version = "", options } = state.created ?? {};
  return {
    cwd,
    workspace,
    version,
    ...(options && { options }),
    door: "agent",
    mode,
    model,
    policy: state.policy,
    title: description,
    parent: { session: id, call, task },
    agent: definition?.name ?? "fork",
    ...(!definition && { forked: { session: id, seq: state.seq } }),
  };
}

type Opening = {
  readonly bench: AgentHost;
  readonly spec: AgentSpec;
  readonly session: Session;
  readonly progress: Progress;
  readonly prefix: readonly LanguageModelV4Message[];
  readonly equipment: AgentEquipment;
  readonly listening: { readonly close: () => void };
};

function agentOn(opening: Opening): OpenedAgent {
  const { spec, session, progress, prefix, equipment, listening } = opening;
  const talk: ConversationDeps = { ...equipment.talk, session, clock: opening.bench.clock, ids: opening.bench.ids };
  let conversation: Conversation | undefined;
  const converse = (messages: LanguageModelV4Message[]): Conversation => {
    const maxTurns = (spec.definition?.maxTurns ?? MOST_TURNS) - session.state.turn; // a restart gives nobody more
    conversation = createConversation({ ...talk, maxTurns }, messages);
    return conversation;
  };
  const begin = (prompt: string, signal: AbortSignal): Promise<RunEnd> => (conversation ?? converse([...prefix])).send(prompt, signal);
  return {
    session,
    progress,
    begin,
    goOn: (signal) => (conversation ?? converse([...prefix])).resume(signal),
    takeUp: async (prompt, signal) => {
      const { results } = await talk.dispatcher.resume({ tools: talk.tools(), signal });
      const waits = results.some(({ outcome }) => outcome === "waiting");
      if (signal.aborted && !(waits && ParkRequest.isReasonOf(signal))) return { reason: "cancelled", text: progress.text() };
      if (waits) return { reason: "parked", text: progress.text() };
      const { messages, providerId } = await readHistory(session.ledger, session.id);
      equipment.resumeAfter?.(providerId);
      const again = converse(messages);
      if (!progress.begun()) return await again.send(prompt, signal);
      if (isGoal(progress.answer()) && session.state.notices.size === 0) return { reason: "done", text: progress.text() };
      return await again.resume(signal);
    },
    completed: () => {
      try {
        equipment.completed?.();
      } catch {
        // The host that made the script hears of it where the run ends.
      }
    },
    close: async (reason, exit) => {
      const leavesOpen = reason !== "parked" && session.state.calls.size > 0;
      if (leavesOpen) await endOpen(session, talk);
      listening.close();
      await equipment.close();
      await session.close(reason, exit);
    },
    node: {
      session,
      path: [...spec.parent.path, spec.definition?.name ?? "fork"],
      above: [spec.parent.session.id, ...spec.parent.above],
      background: spec.background || spec.parent.background,
      talk: () => talk,
      conversation: () => conversation,
    },
  };
}

/** A session that is over has no open call. Rejects where that could not be stored. */
async function endOpen({ state }: Session, { dispatcher, tools }: ConversationDeps): Promise<void> {
  await dispatcher.resume({ tools: tools(), signal: AbortSignal.abort() });
  const failure = dispatcher.failure();
  if (failure !== undefined && state.calls.size > 0) throw failure;
}

/** The turn limit of an agent that no definition limits. */
export const MOST_TURNS = 100;

/** What an agent knows before it is told anything: a fork all that its parent knew, any other nothing. */
async function inherited({ parent, call, definition }: AgentSpec, session: Session): Promise<readonly LanguageModelV4Message[]> {
  if (definition) return [];
  const live = await parent.conversation()?.fork(forkText(call));
  return live ?? (await readHistory(session.ledger, session.id)).messages;
}

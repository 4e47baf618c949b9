import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { type Clock, type EventBodies, type Ids, openSession, ParkRequest, type Session, type SessionOptions } from "@assent/core";
import type { LoadedAgent } from "../agents/load.ts";
import { type Conversation, createConversation } from "../loop/conversation.ts";
import type { ConversationDeps, RunEnd } from "../loop/conversation-state.ts";
import { forkText, readHistory } from "../loop/history/recorded-history.ts";
import { type AgentProgress, createProgress, isCompleteAnswer, readProgress } from "./progress.ts";

/** The fixed properties of an agent. */
export type AgentSpec = {
  readonly task: string;
  /** Undefined for a fork. */
  readonly definition: LoadedAgent | undefined;
  readonly mode: string;
  readonly model: string | null;
  readonly background: boolean;
  readonly parent: AgentNode;
  readonly call: string;
  readonly description: string;
};

/** An agent that can start others: the main one, or a running one. */
export type AgentNode = {
  readonly session: Session;
  /** The names from `main` to its own. */
  readonly path: readonly string[];
  /** The sessions above it, nearest first. */
  readonly above: readonly string[];
  /** True for a background task and agents inside one. */
  readonly background: boolean;
  readonly conversationDeps: () => ConversationDeps;
  /** Undefined before the first turn in this process. */
  readonly conversation: () => Conversation | undefined;
};

/** What the host creates for an agent. */
export type AgentEquipment = {
  /** The dependencies of its conversation that the runtime does not provide. */
  readonly conversation: Omit<ConversationDeps, "session" | "clock" | "ids" | "maxTurns">;
  /** Makes a script continue after this turn. */
  readonly resumeAfter?: (providerId: string | null) => void;
  /** Called when the agent succeeded. Errors are ignored. */
  readonly completed?: () => void;
  readonly close: () => Promise<void>;
};

/** What the host provides for agents. */
export type AgentHost = {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Creates dispatcher, tools, model and prompt of an agent. */
  readonly equip: (session: Session, spec: AgentSpec) => Promise<AgentEquipment>;
};

export type OpenedAgent = {
  readonly node: AgentNode;
  readonly session: Session;
  readonly progress: AgentProgress;
  readonly start: (prompt: string, signal: AbortSignal) => Promise<RunEnd>;
  readonly continueTurns: (signal: AbortSignal) => Promise<RunEnd>;
  /** Resumes from the record: first the open calls, then the model. */
  readonly resumeFromRecord: (prompt: string, signal: AbortSignal) => Promise<RunEnd>;
  readonly completed: () => void;
  readonly close: (reason: EventBodies["session.closed"]["reason"], exit: number) => Promise<void>;
};

/** Builds an agent on a new session, or on the session `id` of an earlier process. */
export async function openAgent(bench: AgentHost, spec: AgentSpec, id?: string): Promise<OpenedAgent> {
  const { parent } = spec;
  const { ledger, endHolder } = parent.session;
  const holder = { ...parent.session.holder, door: "agent" };
  const options: SessionOptions = id === undefined ? { holder, create: newSession(spec) } : { holder, id, takeOver: true };
  const session = await openSession({ ledger, clock: bench.clock, ids: bench.ids, ...(endHolder && { endHolder }) }, options);
  const progress = id === undefined ? createProgress() : await readProgress(ledger, session.id);
  const listening = session.listen(progress.take);
  try {
    const prefix = id === undefined ? await inheritedHistory(spec, session) : []; // the parent waits, so its history does not change
    const equipment = await bench.equip(session, spec);
    await equipment.conversation.model(spec.model);
    return createAgent({ bench, spec, session, progress, prefix, equipment, listening });
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

type AgentOpening = {
  readonly bench: AgentHost;
  readonly spec: AgentSpec;
  readonly session: Session;
  readonly progress: AgentProgress;
  readonly prefix: readonly LanguageModelV4Message[];
  readonly equipment: AgentEquipment;
  readonly listening: { readonly close: () => void };
};

function createAgent(opening: AgentOpening): OpenedAgent {
  const { spec, session, progress, prefix, equipment, listening } = opening;
  const talk: ConversationDeps = { ...equipment.conversation, session, clock: opening.bench.clock, ids: opening.bench.ids };
  let conversation: Conversation | undefined;
  const converse = (messages: LanguageModelV4Message[]): Conversation => {
    const maxTurns = (spec.definition?.maxTurns ?? DEFAULT_MAX_TURNS) - session.state.turn; // a restart adds no turns
    conversation = createConversation({ ...talk, maxTurns }, messages);
    return conversation;
  };
  const begin = (prompt: string, signal: AbortSignal): Promise<RunEnd> => (conversation ?? converse([...prefix])).send(prompt, signal);
  return {
    session,
    progress,
    start: begin,
    continueTurns: (signal) => (conversation ?? converse([...prefix])).resume(signal),
    resumeFromRecord: async (prompt, signal) => {
      const { results } = await talk.dispatcher.resume({ tools: talk.tools(), signal });
      const waits = results.some(({ outcome }) => outcome === "waiting");
      if (signal.aborted && !(waits && ParkRequest.isReasonOf(signal))) return { reason: "cancelled", text: progress.text() };
      if (waits) return { reason: "parked", text: progress.text() };
      const { messages, providerId } = await readHistory(session.ledger, session.id);
      equipment.resumeAfter?.(providerId);
      const again = converse(messages);
      if (!progress.begun()) return await again.send(prompt, signal);
      if (isCompleteAnswer(progress.answer()) && session.state.notices.size === 0) return { reason: "done", text: progress.text() };
      return await again.resume(signal);
    },
    completed: () => {
      try {
        equipment.completed?.();
      } catch {
        // The host reports it at the end of the run.
      }
    },
    close: async (reason, exit) => {
      const leavesOpen = reason !== "parked" && session.state.calls.size > 0;
      if (leavesOpen) await endOpenCalls(session, talk);
      listening.close();
      await equipment.close();
      await session.close(reason, exit);
    },
    node: {
      session,
      path: [...spec.parent.path, spec.definition?.name ?? "fork"],
      above: [spec.parent.session.id, ...spec.parent.above],
      background: spec.background || spec.parent.background,
      conversationDeps: () => talk,
      conversation: () => conversation,
    },
  };
}

/** Ends open calls before the session closes. */
async function endOpenCalls({ state }: Session, { dispatcher, tools }: ConversationDeps): Promise<void> {
  await dispatcher.resume({ tools: tools(), signal: AbortSignal.abort() });
  const failure = dispatcher.failure();
  if (failure !== undefined && state.calls.size > 0) throw failure;
}

export const DEFAULT_MAX_TURNS = 100;

/** The history an agent starts with: that of its parent for a fork, otherwise none. */
async function inheritedHistory({ parent, call, definition }: AgentSpec, session: Session): Promise<readonly LanguageModelV4Message[]> {
  if (definition) return [];
  const live = await parent.conversation()?.fork(forkText(call));
  return live ?? (await readHistory(session.ledger, session.id)).messages;
}

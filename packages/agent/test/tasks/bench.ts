import { createHash } from "node:crypto";
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import {
  type Approver,
  createDispatcher,
  createRegistry,
  type Dispatcher,
  type DispatcherDeps,
  defineTool,
  type EventType,
  type Hooks,
  type Ids,
  type Ledger,
  type LedgerEvent,
  memoryLedger,
  openSession,
  type Policy,
  parseEvent,
  type Registry,
  type Session,
  staticPolicy,
  type Tool,
} from "@assent/core";
import { countingIds, type ManualClock, manualClock } from "@assent/core/testing";
import { agentTool, taskListTool, taskOutputTool, taskSendTool, taskStopTool } from "@assent/tools";
import { z } from "zod";
import {
  type AgentSession,
  type Conversation,
  type ConversationDeps,
  createAgentSession,
  createConversation,
  createTasks,
  type LoadedAgent,
  playScript,
  type RunEnd,
  readHistory,
  readScript,
  type ScriptPlayer,
  selectAgentTools,
  type TaskEvent,
  type Tasks,
  type TasksDeps,
} from "../../src/index.ts";

/** A main conversation with agents on a script, a real dispatcher for each, and a memory ledger. */
export type Bench = {
  readonly session: Session;
  readonly ledger: Ledger;
  readonly clock: ManualClock;
  readonly ids: Ids;
  readonly tasks: Tasks;
  readonly conversation: Conversation;
  readonly agent: AgentSession;
  readonly dispatcher: Dispatcher;
  readonly player: ScriptPlayer;
  readonly heard: TaskEvent[];
  readonly warnings: string[];
  /** Every request to a model, in order. */
  readonly requests: { readonly who: string; readonly options: LanguageModelV4CallOptions }[];
  readonly send: (prompt: string, signal?: AbortSignal) => Promise<RunEnd>;
  /** `send`, then until nothing is left to do. */
  readonly sendAll: (prompt: string) => Promise<RunEnd>;
  readonly events: <T extends EventType>(type: T, session?: string) => Promise<LedgerEvent<T>[]>;
};

/** What a bench may be given beside its script. */
export type BenchOptions = {
  readonly definitions?: readonly Partial<LoadedAgent>[];
  /** Definitions that change while it stands. */
  readonly live?: { readonly definitions: readonly Partial<LoadedAgent>[] };
  readonly tools?: readonly Tool[];
  readonly policy?: Partial<Policy>;
  /** For dispatchers of agents alone. */
  readonly inAgents?: Partial<DispatcherDeps>;
  readonly hooks?: Hooks;
  readonly maxRunning?: number;
  readonly stopHookLimit?: number;
  readonly approver?: Approver;
  readonly observe?: (event: TaskEvent, bench: Bench) => void;
  /** Looks at the model an agent is about to ask, or puts another in its place. */
  readonly model?: (id: string | null, model: LanguageModelV4) => LanguageModelV4;
  /** Nobody tells the main model of what ends, but who waits for it. */
  readonly asleep?: boolean;
  readonly talk?: Partial<ConversationDeps>;
  /** It goes on with the session of this one, as another process would, from the record alone. */
  readonly after?: Bench;
  readonly ledger?: (ledger: Ledger) => Ledger;
  readonly isDirectory?: (path: string) => boolean;
  readonly processes?: TasksDeps["processes"];
  /** Where there is no such directory, nothing can be started. */
  readonly cwd?: string;
  readonly ids?: Ids;
};

const HOLDER = { pid: 1, host: "here", processStart: "then", door: "test" };
const YOLO: Policy = { revision: "r1", mode: "yolo", checkers: [], safeguards: [], honourReadOnlyHint: true };
const digest = { sha256: (text: string): string => createHash("sha256").update(text).digest("hex") };

/** A definition with everything it need not say. */
export function definition(fields: Partial<LoadedAgent> = {}): LoadedAgent {
  return {
    name: "helper",
    description: "Helps.",
    model: null,
    tools: undefined,
    disallowedTools: [],
    mode: null,
    background: false,
    maxTurns: 100,
    maxTimeMs: undefined,
    prompt: "You help.",
    file: "helper.md",
    level: "user",
    digest: "sha256:1",
    usable: true,
    ...fields,
  };
}

/** Opens a session whose model can start agents. */
export async function bench(script: string, options: BenchOptions = {}): Promise<Bench> {
  const { after } = options;
  const clock = after?.clock ?? manualClock();
  const ids = options.ids ?? after?.ids ?? countingIds();
  const memory = after?.ledger ?? memoryLedger({ clock, ids });
  const ledger = options.ledger?.(memory) ?? memory;
  const opening = after
    ? { holder: HOLDER, id: after.session.id, takeOver: true }
    : { holder: HOLDER, create: { cwd: options.cwd ?? "/w", mode: YOLO.mode } };
  const session = await openSession({ ledger, clock, ids }, opening);
  const { messages, providerId } = await readHistory(ledger, session.id);
  const player = playScript(readScript(script, "script.yaml"), clock);
  if (after) player.resumeAfter(providerId);
  const definitions = (options.definitions ?? [{}]).map(definition);
  const registry = registryOf([
    echo,
    agentTool(definitions.filter(({ usable }) => usable)),
    taskListTool(),
    taskOutputTool(),
    taskStopTool(),
    taskSendTool(),
    ...(options.tools ?? []),
  ]);
  const requests: Bench["requests"] = [];
  const heard: TaskEvent[] = [];
  const warnings: string[] = [];
  const shared = {
    clock,
    ids,
    digest,
    policy: staticPolicy({ ...YOLO, ...options.policy }),
    warn: (message: string) => void warnings.push(message),
  };
  const waking: { wake: () => void } = { wake: () => undefined };
  const tasks: Tasks = createTasks({
    session,
    clock,
    ids,
    conversationDeps: () => talk,
    definitions: () => options.live?.definitions.map(definition) ?? definitions,
    ...(options.hooks && { hooks: options.hooks }),
    maxRunning: () => options.maxRunning ?? 10,
    wake: () => waking.wake(),
    warn: (message) => void warnings.push(message),
    ...machineOf(options),
    observe: (event) => {
      heard.push(event);
      options.observe?.(event, made);
    },
    equip: async (child, spec) => {
      const { definition: chosen } = spec;
      const tools = chosen
        ? registryOf(selectAgentTools({ registry, selection: chosen.tools, disallowed: chosen.disallowedTools }))
        : spec.parent.conversationDeps().tools();
      const part = player.agent(chosen?.name ?? "fork");
      const dispatcher = createDispatcher({
        ...shared,
        session: child,
        handlers: tasks.handlers,
        ...(options.hooks && { hooks: options.hooks }),
        ...options.inAgents,
      });
      return {
        conversation: {
          dispatcher,
          tools: () => tools,
          model: (id) => {
            const model = id === null ? part : part.as(id);
            return watched(options.model?.(id, model) ?? model, chosen?.name ?? "fork", requests);
          },
          system: chosen ? () => chosen.prompt : spec.parent.conversationDeps().system,
          steering: () => "force",
          agent: { id: spec.task, type: chosen?.name ?? "fork" },
          ...(options.hooks && { hooks: options.hooks }),
          ...(options.stopHookLimit !== undefined && { stopHookLimit: options.stopHookLimit }),
        },
        resumeAfter: part.resumeAfter,
        completed: part.assertUsed,
        close: async () => {
          await dispatcher.close();
        },
      };
    },
  });
  const dispatcher = createDispatcher({ ...shared, session, handlers: tasks.handlers });
  const talk: ConversationDeps = {
    session,
    dispatcher,
    tools: () => registry,
    model: (id) => watched(player.model(id ?? undefined), "main", requests),
    system: () => "You are tested.",
    clock,
    ids,
    steering: () => "force",
    halt: player.failed,
    ...options.talk,
  };
  const conversation = createConversation(talk, messages);
  tasks.setConversation(conversation);
  const agent = createAgentSession({
    session,
    conversation,
    tasks,
    schedules: { holds: () => false, stop: async () => undefined },
    signal: new AbortController().signal,
  });
  const send = (prompt: string, signal: AbortSignal = new AbortController().signal): Promise<RunEnd> => agent.send(prompt, signal);
  const made: Bench = {
    ...{ session, ledger, clock, ids, tasks, conversation, agent, dispatcher, player, heard, warnings, requests, send },
    sendAll: async (prompt) => {
      const end = await send(prompt);
      return (await agent.settle(new AbortController().signal)) ?? end;
    },
    events: async <T extends EventType>(type: T, of: string = session.id) => {
      const found: LedgerEvent<T>[] = [];
      for await (const stored of ledger.read({ session: of, seq: 0 }, { session: of, types: [type] })) {
        const event = parseEvent(stored);
        if (event) found.push(event as LedgerEvent<T>);
      }
      return found;
    },
  };
  if (!options.asleep) waking.wake = agent.wake;
  return made;
}

function machineOf({ isDirectory, processes }: BenchOptions): Pick<TasksDeps, "isDirectory" | "processes"> {
  return { ...(isDirectory && { isDirectory }), ...(processes && { processes }) };
}

function registryOf(tools: readonly Tool[]): Registry {
  const registry = createRegistry();
  for (const tool of tools) registry.add(tool);
  return registry;
}

function watched(model: LanguageModelV4, who: string, requests: Bench["requests"]): LanguageModelV4 {
  return {
    ...model,
    doStream: (given) => {
      requests.push({ who, options: { ...given, prompt: [...given.prompt] } });
      return model.doStream(given);
    },
  };
}

/** Says back what it is given. */
export const echo: Tool = defineTool({
  name: "echo",
  description: "Says it back.",
  kind: "read",
  input: z.object({ text: z.string() }),
  run: ({ text }) => text,
});

/** A body that waits until the test lets it go. */
export function gate(name = "gate"): { readonly tool: Tool; readonly open: () => void; readonly entered: Promise<void> } {
  const opened = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const tool = defineTool({
    name,
    description: "Waits.",
    kind: "read",
    input: z.object({}),
    run: async (_input, { signal }) => {
      entered.resolve();
      await Promise.race([
        opened.promise,
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      ]);
      return "went";
    },
  });
  return { tool, open: opened.resolve, entered: entered.promise };
}

/** Everything the notices of a session say to its model. */
export async function noticeTexts({ events }: Bench): Promise<string[]> {
  return (await events("notice.queued")).map(({ body }) => body.modelText);
}

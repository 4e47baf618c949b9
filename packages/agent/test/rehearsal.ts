import { createHash } from "node:crypto";
import type { LanguageModelV4Message } from "@ai-sdk/provider";
import {
  createDispatcher,
  createRegistry,
  type DispatcherDeps,
  defineTool,
  type EventType,
  type Ids,
  type Ledger,
  type LedgerEvent,
  memoryLedger,
  type NewSession,
  openSession,
  type Policy,
  parseEvent,
  type Session,
  staticPolicy,
  type Tool,
} from "@assent/core";
import { countingIds, type ManualClock, manualClock } from "@assent/core/testing";
import { z } from "zod";
import {
  type Conversation,
  type ConversationDeps,
  type ConversationEvent,
  createCapabilities,
  createConversation,
  playScript,
  readHistory,
  readScript,
  type ScriptPlayer,
} from "../src/index.ts";

/** A conversation with a script, on a real dispatcher and a memory ledger. */
export type Rehearsal = {
  readonly conversation: Conversation;
  readonly session: Session;
  readonly clock: ManualClock;
  readonly ids: Ids;
  readonly ledger: Ledger;
  readonly player: ScriptPlayer;
  /** The live history. */
  readonly messages: readonly LanguageModelV4Message[];
  readonly heard: ConversationEvent[];
  readonly events: <T extends EventType>(type: T) => Promise<LedgerEvent<T>[]>;
  readonly send: (prompt: string) => ReturnType<Conversation["send"]>;
};

/** What a rehearsal may be given beside its script. */
export type RehearsalOptions = {
  readonly tools?: readonly Tool[];
  readonly policy?: Partial<Policy>;
  readonly deps?: Partial<DispatcherDeps>;
  readonly talk?: Partial<ConversationDeps>;
  readonly cwd?: string;
  readonly clock?: ManualClock;
  readonly ledger?: (ledger: Ledger) => Ledger;
  /** What is recorded of the new session beside its directory. */
  readonly create?: Partial<NewSession>;
  /** It is recorded where this one is. */
  readonly beside?: Rehearsal;
  /** It goes on with the session of this one, as another process would, from the record alone. */
  readonly after?: Rehearsal;
};

const HOLDER = { pid: 1, host: "here", processStart: "then", door: "test" };
const YOLO: Policy = { revision: "r1", mode: "yolo", checkers: [], safeguards: [], honourReadOnlyHint: true };

/** Opens a session and prepares a conversation on the script. */
export async function rehearse(script: string, options: RehearsalOptions = {}): Promise<Rehearsal> {
  const before = options.after ?? options.beside;
  const clock = before?.clock ?? options.clock ?? manualClock();
  const ids = before?.ids ?? countingIds();
  const memory = before?.ledger ?? memoryLedger({ clock, ids });
  const ledger = options.ledger?.(memory) ?? memory;
  const create = { cwd: options.cwd ?? "/w", ...options.create };
  const opening = options.after ? { holder: HOLDER, id: options.after.session.id, takeOver: true } : { holder: HOLDER, create };
  const session = await openSession({ ledger, clock, ids }, opening);
  const { messages, providerId } = await readHistory(ledger, session.id);
  const registry = createRegistry();
  for (const tool of [echo, ...(options.tools ?? [])]) registry.add(tool);
  const digest = { sha256: (text: string) => createHash("sha256").update(text).digest("hex") };
  const dispatcher = createDispatcher({
    session,
    clock,
    ids,
    digest,
    policy: staticPolicy({ ...YOLO, ...options.policy }),
    ...options.deps,
  });
  const parsed = readScript(script, "script.yaml");
  const player = playScript(parsed, clock);
  if (options.after) player.resumeAfter(providerId);
  const heard: ConversationEvent[] = [];
  const deps: ConversationDeps = {
    session,
    dispatcher,
    tools: () => registry,
    model: (id) => player.model(id ?? undefined),
    system: () => "You are tested.",
    clock,
    ids,
    steering: () => "force",
    capabilities: createCapabilities(parsed.capability),
    observe: (event) => heard.push(event),
    ...options.talk,
  };
  const conversation = createConversation(deps, messages);
  const events = async <T extends EventType>(type: T): Promise<LedgerEvent<T>[]> => {
    const found: LedgerEvent<T>[] = [];
    for await (const stored of ledger.read({ session: session.id, seq: 0 }, { session: session.id, types: [type] })) {
      const event = parseEvent(stored);
      if (event) found.push(event as LedgerEvent<T>);
    }
    return found;
  };
  return {
    conversation,
    session,
    clock,
    ids,
    ledger,
    player,
    messages,
    heard,
    events,
    send: (prompt) => conversation.send(prompt, new AbortController().signal),
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

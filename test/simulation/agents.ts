import {
  type AgentSession,
  agentTools,
  type ConversationDeps,
  createAgentSession,
  createConversation,
  createTasks,
  type LoadedAgent,
  playScript,
  type RunEnd,
  recordedHistory,
  type Script,
  type ScriptPlayer,
  type Tasks,
} from "@assent/agent";
import { createRegistry, type Dispatcher, LedgerError, type Session } from "@assent/core";
import { isParked, type Left, newSignal, type Opened, proposed } from "./opened.ts";
import { personAt } from "./people.ts";
import type { PlannedCall } from "./plan.ts";
import { idOf, type World } from "./world.ts";

/** A conversation with a model that makes the batches of the plan, a turn each, and whose tasks do one thing each. */
export async function converse(opened: Opened): Promise<Left> {
  const { process, session, tools, reopened } = opened;
  const { player, tasks, dispatcher, talk, waking } = build(opened);
  const leave = async (left: Left): Promise<Left> => {
    await dispatcher.close();
    await session.close(left, left === "done" ? 0 : 75);
    return left;
  };
  if (reopened) {
    await tasks.restore();
    if (isParked(opened, dispatcher, await dispatcher.resume({ tools, signal: newSignal(process) }))) return await leave("parked");
  }
  const { messages, providerId } = await recordedHistory(session.ledger, session.id);
  player.resumeAfter(providerId);
  const begun = messages.length > 0;
  const conversation = createConversation(talk, messages);
  tasks.attend(conversation);
  const schedules = { holds: (): boolean => false, stop: async (): Promise<void> => undefined };
  const agent = createAgentSession({ session, conversation, tasks, schedules, signal: new AbortController().signal });
  waking.wake = agent.wake;
  const left = await talkItOver(opened, { agent, tasks, begun, isAtRest: messages.at(-1)?.role === "assistant", dispatcher });
  await agent.shutdown("simulation");
  return await leave(left);
}

type Talking = {
  readonly agent: AgentSession;
  readonly tasks: Tasks;
  readonly dispatcher: Dispatcher;
  readonly begun: boolean;
  readonly isAtRest: boolean;
};

/** Says what there is to say, and waits for what runs beside it. */
async function talkItOver({ process, session }: Opened, { agent, tasks, dispatcher, begun, isAtRest }: Talking): Promise<Left> {
  const hasMore = !isAtRest || session.state.notices.size > 0;
  let end: RunEnd | undefined;
  if (!begun) end = await agent.send("Do it.", newSignal(process));
  else if (hasMore) end = await agent.goOn(newSignal(process));
  for (;;) {
    refuseFailure(dispatcher, end);
    if (end?.reason === "parked") return "parked";
    end = await agent.settle(newSignal(process));
    const isOver = end === undefined || end.reason === "done";
    const wants = isOver ? await takeUpTasks(tasks) : "more";
    if (wants !== "more") return wants;
  }
}

/** Tasks that wait for a person wait beyond this process; of the others somebody lets go on what can, and ends what cannot. */
async function takeUpTasks(tasks: Tasks): Promise<Left | "more"> {
  const paused = tasks.list().filter(({ status }) => status === "paused");
  const stopped = paused.find(({ blockedReason }) => blockedReason !== "approval");
  if (!stopped) return paused.length > 0 ? "parked" : "done";
  const refused = await (stopped.resumable ? tasks.resume(stopped.id, "somebody") : tasks.cancel(stopped.id, "somebody"));
  if (refused) throw new LedgerError("store_io", refused.message);
  return "more";
}

function refuseFailure(dispatcher: Dispatcher, end: RunEnd | undefined): void {
  const failure = dispatcher.failure();
  if (failure !== undefined) throw failure;
  if (end?.reason === "failed") throw new Error(`the conversation failed: ${end.error?.type} ${end.error?.message}`);
}

type Built = {
  readonly player: ScriptPlayer;
  readonly tasks: Tasks;
  readonly dispatcher: Dispatcher;
  readonly talk: ConversationDeps;
  readonly waking: { wake: () => void };
};

function build(opened: Opened): Built {
  const { world, process, session, tools, dispatcherOf } = opened;
  const { clock, ids } = portsOf(opened);
  const script = scriptOf(opened);
  const player = playScript(script, clock);
  const waking: Built["waking"] = { wake: () => undefined };
  const definitions = Object.keys(script.agents ?? {}).map(definition);
  const tasks: Tasks = createTasks({
    ...{ session, clock, ids, talk: () => talk, definitions: () => definitions, maxRunning: () => 10, wake: () => waking.wake() },
    warn: (message) => world.on.note(() => `${process.actor.name}: warns, ${message}`),
    equip: async (child, { definition: chosen }) => {
      const registry = createRegistry();
      for (const tool of agentTools({ registry: tools, given: chosen?.tools, disallowed: ["agent"] })) registry.add(tool);
      const part = player.agent(chosen?.name ?? "fork");
      const own = dispatcherOf({ session: child, handlers: tasks.handlers, onAsk: "park" });
      const model = (): Model => heardBy(opened, child, part);
      return {
        talk: { dispatcher: own, tools: () => registry, model, system: () => "You help.", steering: () => "force" },
        resumeAfter: part.resumeAfter,
        close: () => own.close(),
      };
    },
  });
  const dispatcher = dispatcherOf({ session, handlers: tasks.handlers, ...personAt(world, process) });
  const talk: ConversationDeps = {
    ...{ session, dispatcher, clock, ids, tools: () => tools, system: () => "You are simulated.", steering: () => "force" },
    model: () => heardBy(opened, session, player.model()),
  };
  return { player, tasks, dispatcher, talk, waking };
}

function portsOf({ world, process }: Opened): { clock: ReturnType<World["on"]["clock"]>; ids: World["ids"] } {
  return { clock: world.on.clock(process.actor), ids: world.ids };
}

/** More last words than there can be notices. */
const LAST_WORDS = Array.from({ length: 20 }, () => ({ say: "Done." }));

function scriptOf({ world, process }: Opened): Script {
  const at = world.standings.indexOf(process.standing);
  const { batches } = process.standing.plan;
  const named = batches.map((calls, turn) => calls.map((call, index) => ({ call, id: idOf(at, turn, index) })));
  const agents = named
    .flat()
    .flatMap(({ call, id }) => (call.tool === "task" ? [[`helper-${id}`, { turns: helperTurns(call, id) }] as const] : []));
  const turns = named.map((calls) => ({ calls: calls.map(({ call, id }) => (call.tool === "task" ? launch(id) : scripted(call, id))) }));
  return { turns: [...turns, ...LAST_WORDS], agents: Object.fromEntries(agents) };
}

function launch(id: string): { tool: string; id: string; input: object } {
  return { tool: "agent", id, input: { description: id, prompt: "Help.", agent: `helper-${id}`, run_in_background: true } };
}

function scripted(call: PlannedCall, id: string): { tool: string; id: string; input: unknown } {
  const { name, arguments: input } = proposed(call, id);
  return { tool: name, id, input };
}

function helperTurns(call: PlannedCall, id: string): Script["turns"] {
  return [{ calls: [scripted(call, `${id}_h`)] }, ...LAST_WORDS];
}

function definition(name: string): LoadedAgent {
  return {
    ...{ name, description: "Helps.", model: null, tools: undefined, disallowedTools: [], mode: null, background: true, maxTurns: 100 },
    ...{ maxTimeMs: undefined, prompt: "You help.", file: `${name}.md`, level: "user", digest: "sha256:1", usable: true },
  };
}

type Model = ReturnType<ScriptPlayer["model"]>;

/** A model that takes its time, and remembers what it was asked. */
function heardBy({ world, process }: Opened, session: Session, model: Model): Model {
  return {
    ...model,
    doStream: async (options) => {
      world.heard.push({ session: session.id, prompt: [...options.prompt] });
      await world.on.step(process.actor, "the model answers");
      return await model.doStream(options);
    },
  };
}

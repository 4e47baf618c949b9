import {
  type AgentSession,
  type ConversationDeps,
  createAgentSession,
  createConversation,
  createSchedules,
  createTasks,
  type LoadedAgent,
  playScript,
  type RunEnd,
  readHistory,
  type Schedules,
  type Script,
  type ScriptPlayer,
  selectAgentTools,
  type Tasks,
} from "@assent/agent";
import { createRegistry, type Dispatcher, LedgerError, type Session } from "@assent/core";
import { isParked, type Left, leave, newSignal, type Opened, proposed } from "./opened.ts";
import { personAt } from "./people.ts";
import type { PlannedCall } from "./plan.ts";
import { idOf, type World, wakeText } from "./world.ts";

/** A conversation with a model that makes the batches of the plan, a turn each, and whose tasks do one thing each. */
export async function converse(opened: Opened): Promise<Left> {
  const { process, session, tools, reopened } = opened;
  const { player, tasks, schedules, dispatcher, talk, waking } = build(opened);
  if (reopened) {
    await tasks.restore();
    await schedules.restore();
    if (isParked(opened, dispatcher, await dispatcher.resume({ tools, signal: newSignal(process) })))
      return await leave(opened, dispatcher, "parked");
  }
  const { messages, providerId } = await readHistory(session.ledger, session.id);
  player.resumeAfter(providerId);
  const begun = messages.length > 0;
  const conversation = createConversation(talk, messages);
  tasks.setConversation(conversation);
  const beside: Beside = { end: undefined };
  const agent = createAgentSession({
    ...{ session, conversation, tasks, schedules, signal: new AbortController().signal },
    onDrained: (end) => {
      beside.end = end?.reason === "done" ? beside.end : end;
    },
  });
  waking.wake = agent.wake;
  const isAtRest = messages.at(-1)?.role === "assistant";
  const left = await talkItOver(opened, { agent, tasks, schedules, begun, isAtRest, dispatcher, beside });
  await agent.shutdown("simulation");
  return await leave(opened, dispatcher, left);
}

/** What came of a notice that was told while nobody waited for it, if it was no good end. */
type Beside = { end: RunEnd | undefined };

type Talking = {
  readonly agent: AgentSession;
  readonly tasks: Tasks;
  readonly schedules: Schedules;
  readonly beside: Beside;
  readonly dispatcher: Dispatcher;
  readonly begun: boolean;
  readonly isAtRest: boolean;
};

/** Says what there is to say, and waits for what runs beside it, or is due later. */
async function talkItOver(opened: Opened, talking: Talking): Promise<Left> {
  const { agent, tasks, dispatcher, beside } = talking;
  let end = await firstWords(opened, talking);
  for (;;) {
    refuseFailure(dispatcher, end);
    refuseFailure(dispatcher, beside.end);
    if (end?.reason === "parked") return "parked";
    end = await agent.settle(newSignal(opened.process));
    const isOver = end === undefined || end.reason === "done";
    const wants = isOver ? await takeUpTasks(tasks) : "more";
    if (wants !== "more" && !(wants === "done" && (await awaitsSchedules(opened, talking)))) return wants;
  }
}

async function firstWords({ process, session }: Opened, { agent, begun, isAtRest }: Talking): Promise<RunEnd | undefined> {
  if (!begun) return await agent.send("Do it.", newSignal(process));
  return isAtRest && session.state.notices.size === 0 ? undefined : await agent.resume(newSignal(process));
}

const MINUTE = 60_000;

/** Lets a minute pass while something is due that outlives the process. False: there is nothing. */
async function awaitsSchedules({ world, process }: Opened, { schedules }: Talking): Promise<boolean> {
  const [row] = schedules.list();
  if (!row) return false;
  await new Promise<void>((resolve) => world.on.clock(process.actor).timer(MINUTE, resolve));
  return true;
}

function mayPass(error: unknown): boolean {
  return error instanceof LedgerError && (error.type === "store_full" || error.type === "store_locked");
}

/** So often somebody wants to be told the same. */
const ENOUGH = 3;

/** Schedules, of which each is deleted once it has fired often enough. */
function schedulesOf(opened: Opened, wake: () => void): Schedules {
  const { world, session, fail } = opened;
  const { clock, ids } = portsOf(opened);
  const schedules = createSchedules({
    ...{ session, clock, ids, wake },
    failed: (error) => {
      if (!mayPass(error)) fail(error); // else it fires later
    },
    observe: ({ schedule }) => {
      const fired = (world.fired.get(schedule) ?? 0) + 1;
      world.fired.set(schedule, fired);
      if (fired >= ENOUGH) schedules.remove(schedule).catch(fail);
    },
  });
  return schedules;
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
  const { message = "" } = end?.error ?? {};
  if (end?.reason === "failed" && message.startsWith("LedgerError: "))
    // of what was told while nobody waited only the words are left
    throw new LedgerError(message.includes("is not legal") ? "event_invalid" : "store_io", message.slice("LedgerError: ".length));
  if (end?.reason === "failed") throw new Error(`the conversation failed: ${end.error?.type} ${end.error?.message}`);
}

type Built = {
  readonly player: ScriptPlayer;
  readonly tasks: Tasks;
  readonly schedules: Schedules;
  readonly dispatcher: Dispatcher;
  readonly talk: ConversationDeps;
  readonly waking: { wake: () => void };
};

function build(opened: Opened): Built {
  const { world, process, session, tools, hooks, dispatcherOf } = opened;
  const { clock, ids } = portsOf(opened);
  const script = scriptOf(opened);
  const player = playScript(script, clock);
  const waking: Built["waking"] = { wake: () => undefined };
  const definitions = Object.keys(script.agents ?? {}).map(definition);
  const tasks: Tasks = createTasks({
    ...{
      session,
      clock,
      ids,
      conversationDeps: () => talk,
      definitions: () => definitions,
      maxRunning: () => 10,
      wake: () => waking.wake(),
    },
    warn: (message) => world.on.note(() => `${process.actor.name}: warns, ${message}`),
    equip: async (child, { definition: chosen, background }) => {
      const registry = createRegistry();
      for (const tool of selectAgentTools({ registry: tools, selection: chosen?.tools, disallowed: ["agent"] })) registry.add(tool);
      const part = player.agent(chosen?.name ?? "fork");
      const asking = background ? { onAsk: "park" as const } : { onAsk: "deny" as const, ...personAt(world, process) };
      const own = dispatcherOf({ session: child, handlers: tasks.handlers, ...asking });
      const model = (): Model => heardBy(opened, child, part);
      return {
        conversation: { dispatcher: own, tools: () => registry, model, system: () => "You help.", steering: () => "force" },
        resumeAfter: part.resumeAfter,
        close: () => own.close(),
      };
    },
  });
  const schedules = schedulesOf(opened, () => waking.wake());
  const handlers = { ...tasks.handlers, ...schedules.handlers };
  const dispatcher = dispatcherOf({ session, handlers, ...personAt(world, process) });
  const talk: ConversationDeps = {
    ...{ session, dispatcher, clock, ids, tools: () => tools, system: () => "You are simulated.", steering: () => "force" },
    model: () => heardBy(opened, session, player.model()),
    ...(hooks && { hooks }),
  };
  return { player, tasks, schedules, dispatcher, talk, waking };
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
    .flatMap(({ call, id }) => (isAgent(call) ? [[`helper-${id}`, { turns: helperTurns(call, id) }] as const] : []));
  const turns = named.map((calls) => ({ calls: calls.map(({ call, id }) => callOf(call, id)) }));
  return { turns: [...turns, ...LAST_WORDS], agents: Object.fromEntries(agents) };
}

function isAgent({ tool }: PlannedCall): boolean {
  return tool === "task" || tool === "helper";
}

type Scripted = { readonly tool: string; readonly id: string; readonly input: unknown };

function callOf(call: PlannedCall, id: string): Scripted {
  if (isAgent(call)) return launch(call, id);
  return call.tool === "schedule"
    ? { tool: "schedule_create", id, input: { ...WHEN[call.text], prompt: wakeText(id) } }
    : scripted(call, id);
}

/** When it is due, by the text of its call. */
const WHEN: Readonly<Record<string, object>> = {
  one: { every: "30s", recurring: false },
  two: { every: "45s", recurring: false, durable: true },
  three: { every: "90s", durable: true },
  four: { every: "20m", recurring: false, durable: true },
};

function launch({ tool }: PlannedCall, id: string): Scripted {
  return { tool: "agent", id, input: { description: id, prompt: "Help.", agent: `helper-${id}`, run_in_background: tool === "task" } };
}

function scripted(call: PlannedCall, id: string): Scripted {
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

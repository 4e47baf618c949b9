import { statSync } from "node:fs";
import {
  type AgentSession,
  type AgentSessionDeps,
  type ConversationDeps,
  createAgentSession,
  createConversation,
  createSchedules,
  createTasks,
  findUnknownTools,
  type LoadedAgent,
  type RunLimits,
  type Schedules,
  systemPrompt,
  type Tasks,
  type TasksDeps,
} from "@assent/agent";
import { listOfferedTools, type Maybe, type Session } from "@assent/core";
import { createUnknownOutcomes, type UnknownOutcomes } from "@assent/core/parts";
import type { HostPorts } from "@assent/host";
import { TOOL_LISTINGS } from "@assent/tools";
import type { Context } from "../command-line/spec.ts";
import type { Cancellation } from "../io/cancel-on-signal.ts";
import { warn } from "../io/output.ts";
import { commonConversationDeps, createAgentEquipment } from "./agent-equipment.ts";
import { createSessionDispatcher, type SessionDispatcher } from "./dispatcher.ts";
import { type OnAsk, readOnAsk } from "./flags.ts";
import type { FollowedPolicy } from "./follow-policy.ts";
import type { FrontEnd } from "./front-end.ts";
import { trustedInstructions } from "./instructions.ts";
import { type SessionServers, startServers } from "./mcp/session-servers.ts";
import type { RunModel } from "./model.ts";

export type AgentParts = {
  readonly session: Session;
  readonly ports: HostPorts;
  readonly policy: FollowedPolicy;
  readonly chosen: RunModel;
  readonly cancelling: Cancellation;
  readonly unattended: OnAsk;
  /** By default the terminal, if there is one. */
  readonly frontEnd?: FrontEnd;
  readonly limits?: RunLimits;
  /** Deliver notices even after failed turns, because a person is present. */
  readonly interactive?: boolean;
  readonly onDrained?: NonNullable<AgentSessionDeps["onDrained"]>;
  /** Leaves tasks and schedules paused. */
  readonly keepPaused?: boolean;
};

export type ComposedAgent = Pick<SessionDispatcher, "dispatcher" | "modes" | "close" | "onAsk"> & {
  /** Undefined if no MCP server is configured. */
  readonly servers: SessionServers | undefined;
  /** What the model gets for what a person says: with prompts and resources of MCP servers. Rejects with a sentence. */
  readonly expand: (said: string, signal: AbortSignal) => Maybe<string>;
  readonly drive: (messages: NonNullable<Parameters<typeof createConversation>[1]>) => AgentSession;
  readonly tasks: Tasks;
  readonly schedules: Schedules;
  readonly offered: () => readonly string[];
  readonly agents: () => readonly { readonly name: string; readonly description: string }[];
};

export async function composeAgent(context: Context, parts: AgentParts): Promise<ComposedAgent> {
  const { session, policy, cancelling, limits } = parts;
  policy.serve(session.id);
  const unknown = createUnknownOutcomes();
  unknown.attend(session);
  await unknown.restore(session.ledger, session.id);
  const bell: WakeUp = { wake: () => undefined };
  const background = createBackground(context, parts, bell, unknown);
  const { tasks, schedules } = background;
  policy.keepCommandsIn(tasks.commands);
  const handlers = { ...tasks.handlers, ...schedules.handlers };
  const { ports, unattended, frontEnd } = parts;
  const runtime = {
    session,
    ports,
    policy,
    cancelling,
    onAsk: readOnAsk(context),
    unattended,
    frontEnd,
    limits,
    handlers,
    unknown: unknown.fingerprints,
  };
  const made = await createSessionDispatcher(context, runtime);
  const servers = startServers(context, {
    servers: policy.mcp.servers,
    ports,
    workspace: policy.workspace,
    settings: policy.source.settings,
    ...(frontEnd?.servers && { brought: frontEnd.servers }),
  });
  if (servers && waitsForServer(session)) policy.offerServerTools(await servers.tools());
  const talk = conversationDeps(parts, { ...made, servers }, await readInstructions(context, parts));
  background.join({ ...made, talk, handlers });
  await warnAboutAgents(context, policy);
  await tasks.restore({ resumeAnswered: parts.keepPaused !== true });
  if (parts.keepPaused !== true) await schedules.restore();
  const { dispatcher, modes, onAsk } = made;
  const close = async (): Promise<void> => {
    await servers?.close();
    await made.close();
  };
  return {
    ...{ dispatcher, modes, onAsk, close, tasks, schedules, servers },
    expand: (said, signal) => servers?.expand(said, signal) ?? said,
    offered: () => listOfferedTools(policy.tools, { session, dispatcher, canAsk: made.asks() }).map(({ name }) => name),
    agents: () => listDefinitions(parts).filter(({ usable }) => usable),
    drive: (messages) => {
      const { interactive, onDrained } = parts;
      const conversation = createConversation(talk, messages);
      tasks.setConversation(conversation);
      const agent = createAgentSession({
        ...{ session, tasks, schedules, conversation, signal: cancelling.signal },
        ...(interactive !== undefined && { interactive }),
        ...(onDrained && { onDrained }),
      });
      bell.wake = agent.wake;
      return agent;
    },
  };
}

function listDefinitions({ frontEnd, policy }: AgentParts): readonly LoadedAgent[] {
  const given = frontEnd?.agents?.() ?? [];
  return [...given, ...policy.agents.agents.filter(({ name }) => !given.some((agent) => agent.name === name))];
}

/** The `agent` tool describes only agents from files. */
function frontEndAgentsText({ frontEnd }: AgentParts): string {
  const given = frontEnd?.agents?.() ?? [];
  if (given.length === 0) return "";
  return `\n\nIn this session the tool \`agent\` also starts:\n${given.map(({ name, description }) => `- ${name}: ${description}`).join("\n")}`;
}

/** A call that waits for an answer keeps its tool only if the tool is there before the call is restored. */
function waitsForServer({ state }: Session): boolean {
  return [...state.calls.values()].some(({ tool }) => tool.startsWith("mcp__"));
}

type WakeUp = { wake: () => void };
type ComposedParts = SessionDispatcher & { readonly talk: ConversationDeps; readonly handlers: Tasks["handlers"] };
type Background = { readonly tasks: Tasks; readonly schedules: Schedules; readonly join: (made: ComposedParts) => void };

/** Tasks and schedules exist before the dispatcher, which they use later. */
function createBackground(context: Context, parts: AgentParts, bell: WakeUp, unknown: UnknownOutcomes): Background {
  const { session, policy, ports, chosen, frontEnd, limits } = parts;
  let joined: ComposedParts | undefined;
  const root = (): ComposedParts => {
    if (!joined) throw new Error("the session is not composed yet");
    return joined;
  };
  const wake = (): void => bell.wake();
  const settings = (): ReturnType<typeof policy.source.settings> => policy.source.settings();
  let equipment: TasksDeps["equip"] | undefined;
  const equip: TasksDeps["equip"] = (child, spec) => {
    const { handlers, modes, channels, onAsk } = root();
    equipment ??= createAgentEquipment(context, {
      ports,
      policy,
      chosen,
      frontEnd,
      limits,
      unknown,
      handlers,
      rootPolicy: modes,
      channels,
      onAsk,
    });
    return equipment(child, spec);
  };
  const tasks = createTasks({
    ...{ session, clock: ports.clock, ids: ports.ids, wake, equip },
    conversationDeps: () => root().talk,
    definitions: () => listDefinitions(parts),
    hooks: {
      consult: (...given) => root().hooks.consult(...given),
      applies: (...given) => root().hooks.applies?.(...given) ?? true,
      tell: (...given) => root().hooks.tell(...given),
    },
    maxRunning: () => settings()["tasks.maxRunning"],
    processes: ports.processes,
    isDirectory: (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
    warn: (message) => void warn(context.io, message),
  });
  const schedules = createSchedules({
    ...{ session, clock: ports.clock, ids: ports.ids, wake },
    failed: (error) => void warn(context.io, `a schedule could not be recorded: ${String(error)}`),
  });
  const join = (made: ComposedParts): void => {
    joined = made;
  };
  return { tasks, schedules, join };
}

/** Reads none with `--policy`, which does not check trust. */
async function readInstructions({ io }: Context, { session, policy }: AgentParts): Promise<string> {
  const { created } = session.state;
  if (typeof created?.options?.["policy"] === "string") return "";
  const { text, warnings } = await trustedInstructions(session.ledger, {
    workspace: policy.workspace,
    cwd: created?.cwd ?? policy.workspace,
  });
  for (const warning of warnings) await warn(io, warning);
  return text;
}

const PREFERRED_TOOLS = TOOL_LISTINGS.filter(({ kind }) => kind === "read" || kind === "search" || kind === "edit").map(({ name }) => name);

type ServedDispatcher = SessionDispatcher & { readonly servers: SessionServers | undefined };

function conversationDeps(parts: AgentParts, made: ServedDispatcher, instructions: string): ConversationDeps {
  const { session, ports, policy, chosen } = parts;
  const cwd = session.state.created?.cwd ?? policy.workspace;
  const prompted = { cwd, preferredTools: PREFERRED_TOOLS, planFile: session.state.planning?.file, instructions };
  const own = systemPrompt(prompted);
  const system = (): string => {
    const { prompt, append } = parts.frontEnd?.system?.() ?? {};
    const base = prompt === undefined ? own : systemPrompt({ ...prompted, prompt });
    return `${append === undefined ? base : `${base}\n\n${append}`}${frontEndAgentsText(parts)}`;
  };
  const prepareTools = (signal: AbortSignal | undefined): Promise<void> | undefined => {
    const reloading = policy.reloadToolsIfDue();
    if (!made.servers) return reloading;
    return Promise.all([made.servers.tools(signal), reloading]).then(([tools]) => policy.offerServerTools(tools));
  };
  return {
    session,
    dispatcher: made.dispatcher,
    ...ports,
    tools: policy.toolsNow,
    model: (id, signal) => prepareTools(signal)?.then(() => chosen.model(id)) ?? chosen.model(id), // every turn starts by requesting its model
    ...commonConversationDeps(parts),
    system,
    hooks: made.hooks,
    plan: made.planMode.plan,
    onAsk: made.onAsk,
    get canAsk() {
      return made.asks();
    },
    observe: made.observe,
  };
}

async function warnAboutAgents({ io }: Context, { agents, tools }: FollowedPolicy): Promise<void> {
  for (const { file, line, message } of agents.problems) await warn(io, `${file}:${line}: ${message}`);
  for (const warning of agents.warnings) await warn(io, warning);
  for (const { file, tools: named, disallowedTools, usable } of agents.agents)
    for (const name of usable ? findUnknownTools([...(named ?? []), ...disallowedTools], tools) : [])
      await warn(io, `${file}: unknown tool "${name}"`);
}

import {
  type AgentEquipment,
  type AgentSpec,
  agentSystemPrompt,
  type ConversationDeps,
  type RunLimits,
  selectAgentTools,
} from "@assent/agent";
import {
  type Approver,
  createDispatcher,
  createRegistry,
  type Dispatcher,
  type DispatcherDeps,
  type PolicySource,
  type Questioner,
  type Registry,
  type Session,
} from "@assent/core";
import type { UnknownOutcomes } from "@assent/core/parts";
import { ajvSchemas, type HostPorts } from "@assent/host";
import { createRedactor } from "@assent/policy";
import type { Context } from "../command-line/spec.ts";
import { warn } from "../io/output.ts";
import { createAgentPolicy } from "./agent-policy.ts";
import { commonDeps, type SessionDispatcher } from "./dispatcher.ts";
import type { FollowedPolicy } from "./follow-policy.ts";
import type { FrontEnd } from "./front-end.ts";
import { createHooks } from "./hook-runner.ts";
import type { RunModel } from "./model.ts";

export type ParentParts = {
  readonly ports: HostPorts;
  readonly policy: FollowedPolicy;
  readonly chosen: RunModel;
  readonly frontEnd: FrontEnd | undefined;
  readonly limits: RunLimits | undefined;
  readonly unknown: UnknownOutcomes;
  readonly handlers: NonNullable<DispatcherDeps["handlers"]>;
  readonly rootPolicy: PolicySource;
  readonly channels: SessionDispatcher["channels"];
  readonly onAsk: string;
};

const NOTE = "Background tasks cannot ask. Allow it with a rule, or leave it to the main agent.";

export function createAgentEquipment(
  context: Context,
  around: ParentParts,
): (session: Session, spec: AgentSpec) => Promise<AgentEquipment> {
  const policies = new Map<string, PolicySource>();
  return async (session, spec) => {
    const { policy, ports, frontEnd, limits, chosen } = around;
    policy.serve(session.id);
    around.unknown.attend(session);
    const name = spec.definition?.name ?? "fork";
    const above = policies.get(spec.parent.session.id) ?? around.rootPolicy;
    const source = createAgentPolicy({
      session,
      above,
      defined: spec.definition?.mode ?? null,
      warn: (message) => void warn(context.io, message),
    });
    policies.set(session.id, source);
    const hooks = createHooks(context, { session, ports, policy, frontEnd });
    const attending = await frontEnd?.attend(session, spec.call);
    const tools = agentRegistry(spec);
    const asks = askDepsFor(around, spec);
    context.attendance.attend(session.id, () => asks.approver?.available() === true);
    const dispatcher = createDispatcher({
      ...commonDeps(context, { session, ports, policy, limits, frontEnd, unknown: around.unknown.fingerprints }),
      by: around.channels.by,
      handlers: around.handlers,
      ...asks,
      tools,
      policy: source,
      hooks,
      above: [spec.parent.session.id, ...spec.parent.above],
      ...(attending && { decided: attending.decided }),
    });
    const part = chosen.script?.agent(name);
    const talk: AgentEquipment["conversation"] = {
      dispatcher: withAgentName(dispatcher, name),
      tools: () => tools,
      model: part ? (id) => (id === null || id === chosen.id ? part : part.as(id)) : chosen.model,
      ...commonConversationDeps(around),
      system: systemPromptOf(spec, session),
      agent: { id: spec.task, type: name },
      hooks,
      canAsk: mayAskQuestions(spec, asks),
      ...(attending && { observe: attending.observe }),
    };
    const close = async (): Promise<void> => {
      policies.delete(session.id);
      source.close();
      await dispatcher.close();
      await hooks.idle();
    };
    return { conversation: talk, close, ...(part && { resumeAfter: part.resumeAfter, completed: part.assertUsed }) };
  };
}

export function commonConversationDeps({ policy, chosen, limits }: CommonParts): CommonConversationDeps {
  const { settings } = policy.source;
  return {
    capabilities: chosen.capabilities,
    steering: () => settings()["proposals.steering"],
    maxConsecutiveToolCalls: settings().maxConsecutiveToolCalls,
    stopHookLimit: settings().stopHookLimit,
    ...(limits && { limits }),
    ...(chosen.script && { halt: chosen.script.failed }),
    redact: (text) => createRedactor(settings()["redaction.patterns"])(text),
  };
}

type CommonParts = Pick<ParentParts, "policy" | "chosen"> & { readonly limits?: RunLimits | undefined };
type CommonConversationDeps = Pick<
  ConversationDeps,
  "capabilities" | "steering" | "maxConsecutiveToolCalls" | "stopHookLimit" | "limits" | "halt" | "redact"
>;

function agentRegistry({ definition, parent }: AgentSpec): Registry {
  const registry = parent.conversationDeps().tools();
  if (!definition) return registry;
  const own = createRegistry({ schemas: ajvSchemas() });
  for (const tool of selectAgentTools({ registry, selection: definition.tools, disallowed: definition.disallowedTools })) own.add(tool);
  return own;
}

function systemPromptOf({ definition, parent }: AgentSpec, session: Session): ConversationDeps["system"] {
  if (!definition) return parent.conversationDeps().system;
  const text = agentSystemPrompt({ prompt: definition.prompt, cwd: session.state.created?.cwd ?? "" });
  return () => text;
}

type AskDeps = Pick<DispatcherDeps, "onAsk" | "unattendedNote" | "approver" | "questioner">;

/** In the foreground an agent asks like its caller, in the background as settings say. */
function askDepsFor(around: ParentParts, { background, parent, task, definition }: AgentSpec): AskDeps {
  const { channels, policy } = around;
  const bubbled = withAgentLabel(channels, `${definition?.name ?? "fork"} (${task})`);
  if (!background && !parent.background) return { onAsk: "deny", ...bubbled };
  const set = policy.source.settings()["tasks.onAsk"] ?? (channels.approver ? "bubble" : "deny");
  if (set === "park" && background) return { onAsk: "park" };
  if (set !== "bubble" || !channels.approver) return { onAsk: "deny", unattendedNote: NOTE };
  return { onAsk: background && around.onAsk === "park" ? "park" : "deny", unattendedNote: NOTE, ...bubbled };
}

function mayAskQuestions({ definition, parent }: AgentSpec, { onAsk, questioner }: AskDeps): boolean {
  return definition ? onAsk === "park" || questioner?.available() === true : parent.conversationDeps().canAsk === true;
}

function withAgentLabel({ approver, questioner }: ParentParts["channels"], agentName: string): Pick<AskDeps, "approver" | "questioner"> {
  const ask: Approver["ask"] = (approval, signal) => approver?.ask({ ...approval, agentName }, signal) ?? Promise.resolve(undefined);
  const put: Questioner["ask"] | undefined = questioner && ((question, ...rest) => questioner.ask({ ...question, agentName }, ...rest));
  return {
    ...(approver && { approver: { available: () => approver.available(), ask } }),
    ...(questioner && put && { questioner: { available: () => questioner.available(), ask: put } }),
  };
}

function withAgentName(dispatcher: Dispatcher, agentName: string): Dispatcher {
  return {
    ...dispatcher,
    process: (batch, emit) => dispatcher.process({ ...batch, agentName }, emit),
    resume: (batch, emit) => dispatcher.resume({ ...batch, agentName }, emit),
  };
}

import { type Conversation, type ConversationDeps, createConversation, systemPrompt } from "@assent/agent";
import type { Session } from "@assent/core";
import type { HostPorts } from "@assent/host";
import { givenOnAsk, type OnAsk } from "./call-flags.ts";
import { type CallDispatcher, callDispatcher } from "./call-runtime.ts";
import type { Cancelling } from "./cancel-on-signal.ts";
import type { Context } from "./command-spec.ts";
import type { FollowedPolicy } from "./follow-policy.ts";
import type { RunModel } from "./headless/run-model.ts";

/** What an agent at any door is made from. */
export type Composing = {
  readonly session: Session;
  readonly ports: HostPorts;
  readonly policy: FollowedPolicy;
  readonly chosen: RunModel;
  readonly cancelling: Cancelling;
  /** What an ask becomes where nobody can be asked and nothing was given. */
  readonly unattended: OnAsk;
  readonly observe: NonNullable<ConversationDeps["observe"]>;
};

/** An agent, ready to begin or to go on. */
export type ComposedAgent = Pick<CallDispatcher, "dispatcher" | "modes" | "close" | "onAsk"> & {
  readonly converse: (messages: Parameters<typeof createConversation>[1]) => Conversation;
};

/** Everything a conversation stands on, whether it begins or goes on. */
export async function composeAgent(context: Context, parts: Composing): Promise<ComposedAgent> {
  const { session, policy, chosen, ports, cancelling, unattended, observe } = parts;
  policy.serve(session.id);
  const settings = policy.source.settings();
  const runtime = { session, ports, policy, cancelling, onAsk: givenOnAsk(context), unattended };
  const { dispatcher, modes, planMode, onAsk, asks, close } = await callDispatcher(context, runtime);
  const cwd = session.state.created?.cwd ?? policy.workspace;
  const system = systemPrompt({ cwd, planFile: session.state.planning?.file });
  const maxTurns = context.options.count("max-turns");
  const deps: ConversationDeps = {
    session,
    dispatcher,
    ...ports,
    tools: () => policy.tools,
    model: chosen.model,
    capabilities: chosen.capabilities,
    system: () => system,
    steering: () => policy.source.settings()["proposals.steering"],
    maxConsecutiveToolCalls: settings.maxConsecutiveToolCalls,
    ...(maxTurns !== undefined && { maxTurns }),
    plan: planMode.plan,
    onAsk,
    asks,
    observe,
  };
  return { dispatcher, modes, onAsk, close, converse: (messages) => createConversation(deps, messages) };
}

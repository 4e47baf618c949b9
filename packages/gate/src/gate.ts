import type {
  AnswerReport,
  ApprovalRow,
  InferOutput,
  JsonObject,
  JsonSchema,
  ProposalReport,
  ProposalRow,
  ProposedCall,
  StandardSchema,
  Tool,
  ToolDefinition,
} from "@assent/core";
import type { Explanation } from "@assent/policy";
import type { AnthropicMessage } from "./adapters/anthropic.ts";
import type { EmbeddedCall, EmbeddedTurn, RunStop, TurnOutcome } from "./adapters/embedding.ts";
import type { OpenAIChatMessage, OpenAIResponsesItem } from "./adapters/openai.ts";
import type { ProviderAdapter } from "./adapters/provider-adapter.ts";
import type { GateAnswer, GateEvent } from "./gate-options.ts";
import type { AgentsTool } from "./wrap/agents.ts";
import type { AiSdkTools, ChatMessage, SdkToolApproval } from "./wrap/ai-sdk.ts";
import type { AnthropicDeclaration, OpenAIChatDeclaration, OpenAIResponsesDeclaration, ToolHandlers } from "./wrap/declared.ts";
import type { GovernedFunctions, PlainFunctions } from "./wrap/functions.ts";
import type { ToolTraits } from "./wrap/traits.ts";

/** An approval that waits for a person, with the frozen input. */
export type GateApproval = ApprovalRow & { readonly input: JsonObject | null };

/** What people do with the proposals of a gate's session. A proposal that cannot be settled is reported, not thrown. */
export type GateProposals = {
  /** The proposals that wait, oldest first. */
  readonly list: () => readonly ProposalRow[];
  readonly apply: (id: string, reason?: string) => Promise<ProposalReport>;
  readonly discard: (id: string, reason?: string) => Promise<ProposalReport>;
  readonly undo: (id: string, reason?: string) => Promise<ProposalReport>;
};

/** Traits of some tools, by name. A tool without traits asks. */
export type TraitsOf<Names extends string> = { readonly [Name in Names]?: ToolTraits };

/** Assent in front of the tools of one conversation. */
export type Gate = {
  /** The id of the session. Keep it to continue the conversation in another process. */
  readonly session: string;
  /** Defines a tool with all features of Assent. */
  readonly tool: <S extends StandardSchema | JsonSchema>(definition: ToolDefinition<S, InferOutput<S>>) => Tool;
  /** Wraps a tool set of the AI SDK. Outputs keep their types; a call that does not succeed throws `CallError`. */
  readonly aiSdk: <T extends AiSdkTools>(tools: T, traits?: TraitsOf<Extract<keyof T, string>>, toolApproval?: SdkToolApproval) => T;
  /** Wraps tools for OpenAI's Chat Completions or Responses API. */
  readonly openai: {
    <T extends OpenAIChatDeclaration>(
      tools: readonly T[],
      handlers: ToolHandlers,
      traits?: TraitsOf<string>,
    ): ProviderAdapter<T, OpenAIChatMessage>;
    <T extends OpenAIResponsesDeclaration>(
      tools: readonly T[],
      handlers: ToolHandlers,
      traits?: TraitsOf<string>,
    ): ProviderAdapter<T, OpenAIResponsesItem>;
  };
  /** Wraps tools for Anthropic's Messages API. */
  readonly anthropic: <T extends AnthropicDeclaration>(
    tools: readonly T[],
    handlers: ToolHandlers,
    traits?: TraitsOf<string>,
  ) => ProviderAdapter<T, AnthropicMessage>;
  /** Wraps function tools of `@openai/agents`. */
  readonly agents: <T extends AgentsTool>(tools: readonly T[], traits?: TraitsOf<string>) => T[];
  /** Wraps plain functions. Each call is decided; a call that does not succeed throws `CallError`. */
  readonly functions: <T extends PlainFunctions>(functions: T, traits?: TraitsOf<Extract<keyof T, string>>) => GovernedFunctions<T>;
  /** Decides and runs the calls of one turn, in order, with exactly one result each. */
  readonly run: (calls: readonly ProposedCall[], turn?: EmbeddedTurn) => Promise<TurnOutcome>;
  /** Continues calls that waited, also after a crash or in another process. Default: all open calls of the session. */
  readonly resume: (earlier?: readonly EmbeddedCall[], signal?: AbortSignal) => Promise<TurnOutcome>;
  /**
   * Reconciles approvals in messages of the AI SDK with the ledger. It adds the answers that people gave elsewhere. With `answeredBy`, it
   * also records the answers in the messages, as given by this person: authenticate them first.
   */
  readonly resumeMessages: <M extends ChatMessage>(messages: readonly M[], options?: { readonly answeredBy?: string }) => Promise<M[]>;
  /** Why your loop must stop after the last turn; undefined if it may ask the model again. */
  readonly stopped: () => RunStop | undefined;
  /** The open approvals of the store, oldest first. */
  readonly approvals: () => Promise<readonly GateApproval[]>;
  /** Answers an open approval, of any session of the store. Resolves after the answer is saved. */
  readonly answer: (approval: string, answer: GateAnswer) => Promise<AnswerReport>;
  /** Opens the session, and returns its proposals. */
  readonly proposals: () => Promise<GateProposals>;
  /** Says how a call would be decided, and why. Nothing is asked, run or recorded. */
  readonly explain: (call: ProposedCall) => Promise<Explanation>;
  /** Calls a function for each event of a type, until the returned function is called. */
  readonly on: <T extends GateEvent["type"]>(type: T, listener: (event: Extract<GateEvent, { readonly type: T }>) => void) => () => void;
  /** Cancels what runs, leaves what waits for a person in the store, and releases the session. */
  readonly close: () => Promise<void>;
};

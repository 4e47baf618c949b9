import type { FileChanges } from "../file-ports.ts";
import type { By } from "../model/answer.ts";
import type { ConfirmationDetails } from "../model/confirmation.ts";
import type { Json, JsonObject } from "../model/json/json.ts";
import type { OutcomeState } from "../model/outcome.ts";
import type { Content, Display, ToolResult } from "../model/result/result.ts";
import type { Approver, Clock, Digest, Facts, Files, Hooks, Ids, PolicySource, Processes, Rules, Tracer } from "../ports.ts";
import type { Questioner } from "../question-port.ts";
import type { Registry } from "../registry.ts";
import type { Invocation, RunContext, Tool } from "../tool-definition.ts";
import type { Session } from "./session/session.ts";

/** One call as a model proposes it: arguments as text, or already parsed. */
export type ProposedCall = { readonly id?: string; readonly name: string; readonly arguments: unknown };

/** A model's turn: many calls, judged at once. */
export type Batch = {
  readonly calls: readonly ProposedCall[];
  readonly tools: Registry;
  readonly signal: AbortSignal;
  readonly agentName?: string;
  /** The model's output was cut at its token limit. */
  readonly truncated?: boolean;
  /** The hidden tool a directive names in this turn. */
  readonly directive?: string;
  /** The proposal that the directive in flight is about. */
  readonly proposal?: string;
  /** True when a person has spoken since the last batch: what was rejected before may be asked again. */
  readonly newPrompt?: boolean;
};

/** How one call of a batch stands when `process` returns. */
export type CallReport =
  | { readonly callId: string; readonly outcome: OutcomeState; readonly type: string | null; readonly result: ToolResult }
  /** Parked: an answer will come later. Without an id it is blocked behind a parked call. */
  | { readonly callId: string; readonly outcome: "waiting"; readonly type: "waiting"; readonly approvalId?: string };

/** One report per call, in call order. */
export type BatchReport = {
  readonly stopRun: boolean;
  readonly stopMessage: string;
  readonly results: readonly CallReport[];
  /** Why the turn ends with this batch: a person interrupted it, `onAsk: fail` met an ask that no one could answer, or `mayClaim` refused. */
  readonly endedBy?: "interrupted" | "unanswered" | "limit";
};

/** What observers receive, in the same order for all of them. */
export type DispatchEvent = { readonly callId: string; readonly agentName: string | undefined } & (
  | {
      readonly type: "confirmation";
      readonly approvalId: string;
      readonly revision: number;
      readonly tool: string;
      readonly details: ConfirmationDetails;
    }
  | { readonly type: "hookBlocked"; readonly tool: string; readonly message: string }
  | { readonly type: "toolCall"; readonly tool: string; readonly input: JsonObject }
  | { readonly type: "output"; readonly display: Display }
  | {
      readonly type: "response";
      readonly tool: string | undefined;
      readonly result: ToolResult;
      readonly outcome: OutcomeState;
      readonly outcomeType: string | null;
    }
  | { readonly type: "messageAdded"; readonly sessionId: string; readonly content: Content; readonly isError: boolean }
);

/** The verdict on one call when it is final: told once, before the effect or the error result. */
export type DecisionNotice = {
  readonly callId: string;
  readonly toolName: string;
  readonly input: JsonObject;
  readonly decision: "allow" | "deny" | "canceled";
  readonly source: string;
  readonly label?: string;
  readonly rule?: string;
  readonly reason?: string;
  readonly fingerprint?: string;
};

/** A body owned by the host. */
export type RuntimeHandler = (
  session: Session,
  call: { readonly callId: string; readonly tool: Tool },
  body: { readonly invocation: Invocation; readonly ctx: RunContext },
) => Promise<ToolResult | string>;

/** What a dispatcher is made of. Optional parts that are absent change nothing but what their comment says. */
export type DispatcherDeps = {
  readonly session: Session;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly policy: PolicySource;
  /** Absent: no one can be asked here, and `onAsk` decides. */
  readonly approver?: Approver;
  /** Absent: no one can answer a question of `ask` here, and `onAsk` decides. */
  readonly questioner?: Questioner;
  /** Seconds a person has for each question, 0 for as long as they like; a live value. Absent: 0. */
  readonly askTimeout?: () => number;
  /** What an ask becomes if no one can be asked; `deny` if absent. */
  readonly onAsk?: "deny" | "park" | "fail";
  /** Appended to the model's text in that case: what it could do instead. */
  readonly unattendedNote?: string;
  /** Sessions above this one, of agents that started it: their grants count here too. */
  readonly above?: readonly string[];
  /** Fingerprints that ended unknown in other sessions of the same run; a live value. */
  readonly unknown?: ReadonlySet<string>;
  /** Absent: one unit without facts. */
  readonly facts?: Facts;
  /** Absent: the `tool:arg=glob` notation. */
  readonly rules?: Rules;
  readonly hooks?: Hooks;
  readonly tracer?: Tracer;
  /** Absent: long output is cut without a file. */
  readonly files?: Files;
  /** Absent: nothing can be staged, and tools that preview cannot run. */
  readonly changes?: FileChanges;
  /** The tools whose proposals may be settled before there was a batch; absent: those of the newest batch. */
  readonly tools?: Registry;
  /** Absent: a process left by a crash is named, not ended. */
  readonly processes?: Processes;
  readonly handlers?: Readonly<Record<string, RuntimeHandler>>;
  /** Who speaks for this process, in records. */
  readonly by?: By;
  /** Absent: approvals wait for ever. */
  readonly approvalTimeoutMs?: number | (() => number | undefined);
  /** Bodies that run at once; 10 when absent. */
  readonly maxConcurrency?: number;
  /** For tools that declare none. */
  readonly timeoutMs?: number;
  readonly retryIdempotent?: boolean;
  /** Asked once per call, directly before its claim. A text says which limit is reached: the call and the rest of its batch are skipped. */
  readonly mayClaim?: () => string | undefined;
  readonly decided?: (notice: DecisionNotice) => void;
  readonly warn?: (message: string) => void;
};

/** How a call ends, before it is recorded. */
export type Ending = {
  readonly state: OutcomeState;
  readonly type: string | null;
  readonly result: ToolResult;
  readonly evidence?: JsonObject;
  readonly details?: Json;
};

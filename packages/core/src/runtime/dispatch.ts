import type { FileChanges } from "../file-ports.ts";
import type { By } from "../model/answer.ts";
import type { ConfirmationDetails } from "../model/confirmation.ts";
import type { JsonObject } from "../model/json/json.ts";
import type { ApprovalDecision, ApprovalSource } from "../model/notification-source.ts";
import type { OutcomeState } from "../model/outcome.ts";
import type { Content, Display, ToolOutput, ToolResult } from "../model/result/result.ts";
import type { Approver, Clock, Digest, Facts, Files, Hooks, Ids, PolicySource, Rules, Tracer } from "../ports.ts";
import type { Processes } from "../process-ports.ts";
import type { Questioner } from "../question-port.ts";
import type { Registry } from "../registry.ts";
import type { Invocation, RunContext, Tool } from "../tool-definition.ts";
import type { Session } from "./session/session.ts";

/** A call that a model proposes; arguments are text or parsed. */
export type ProposedCall = { readonly id?: string; readonly name: string; readonly arguments: unknown };

/** The calls of one model turn, judged together. */
export type Batch = {
  readonly calls: readonly ProposedCall[];
  readonly tools: Registry;
  readonly signal: AbortSignal;
  readonly agentName?: string;
  readonly truncated?: boolean;
  readonly directive?: string;
  readonly proposal?: string;
  /** A person sent a message, so rejected calls may ask again. */
  readonly newPrompt?: boolean;
};

/** Continues the open calls of a session, or only those with these ids; others may be running. */
export type ResumedBatch = Omit<Batch, "calls"> & { readonly only?: ReadonlySet<string> };

/** The state of a call when `process` returns. */
export type CallReport =
  | { readonly callId: string; readonly outcome: OutcomeState; readonly type: string | null; readonly result: ToolResult }
  /** Without an approval id, the call is blocked behind a parked call. */
  | { readonly callId: string; readonly outcome: "waiting"; readonly type: "waiting"; readonly approvalId?: string };

/** One report per call, in their order. */
export type BatchReport = {
  readonly stopRun: boolean;
  readonly stopMessage: string;
  readonly results: readonly CallReport[];
  readonly endedBy?: "interrupted" | "unanswered" | "limit";
};

/** The events that observers receive. */
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

/** The final verdict on a call, sent once, before its effect or error result. */
export type DecisionNotice = {
  readonly callId: string;
  readonly toolName: string;
  readonly input: JsonObject;
  readonly decision: ApprovalDecision;
  readonly source: ApprovalSource;
  readonly label?: string;
  readonly rule?: string;
  readonly reason?: string;
  readonly fingerprint?: string;
};

/** A tool body that the host provides. */
export type RuntimeHandler = {
  (
    session: Session,
    call: { readonly callId: string; readonly tool: Tool },
    body: { readonly invocation: Invocation; readonly ctx: RunContext },
  ): Promise<ToolOutput>;
  /** Like `fails` of a tool: throws a `ToolError` if the call would certainly fail now. */
  readonly refuse?: (session: Session, input: JsonObject) => void;
};

/** What a dispatcher needs. */
export type DispatcherDeps = {
  readonly session: Session;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly policy: PolicySource;
  /** If absent, `onAsk` decides. */
  readonly approver?: Approver;
  /** If absent, `onAsk` decides. */
  readonly questioner?: Questioner;
  /** Seconds per question; 0 or absent for no limit. */
  readonly askTimeout?: () => number;
  /** For an ask that no one can answer; `deny` by default. */
  readonly onAsk?: "deny" | "park" | "fail";
  /** Added to the model's text if an ask is denied. */
  readonly unattendedNote?: string;
  /** Parent agents, whose grants also apply. */
  readonly above?: readonly string[];
  /** Fingerprints that ended `unknown` in other sessions of this run. */
  readonly unknown?: ReadonlySet<string>;
  readonly facts?: Facts;
  /** If absent, the `tool:arg=glob` notation. */
  readonly rules?: Rules;
  readonly hooks?: Hooks;
  readonly tracer?: Tracer;
  /** If absent, long output is cut and not saved. */
  readonly files?: Files;
  /** If absent, tools with a preview cannot run. */
  readonly changes?: FileChanges;
  /** Until the first batch brings tools. */
  readonly tools?: Registry;
  /** If absent, processes left by a crash are reported, not ended. */
  readonly processes?: Processes;
  readonly handlers?: Readonly<Record<string, RuntimeHandler>>;
  readonly by?: By;
  /** If absent, approvals never expire. */
  readonly approvalTimeoutMs?: number | (() => number | undefined);
  /** Where new approvals can be approved; anywhere if absent or undefined. */
  readonly answersFrom?: () => readonly string[] | undefined;
  /** 10 by default. */
  readonly maxConcurrency?: number;
  /** For tools that declare no timeout. */
  readonly timeoutMs?: number;
  readonly retryIdempotent?: boolean;
  /** A text names a reached limit and skips the rest of the batch. */
  readonly mayClaim?: () => string | undefined;
  readonly decided?: (notice: DecisionNotice) => void;
  /** False while `decided` has no listener; it is then not called. */
  readonly isObserved?: () => boolean;
  readonly warn?: (message: string) => void;
};

/** How a call ends, before it is recorded. */
export type Ending = {
  readonly state: OutcomeState;
  readonly type: string | null;
  readonly result: ToolResult;
  readonly evidence?: JsonObject;
};

import {
  type ConfirmationDetails,
  contentText,
  type Display,
  type Json,
  type JsonObject,
  type LedgerEvent,
  type OutcomeState,
  type ProposalState,
  type Question,
  resultValue,
  type Verdict,
} from "@assent/core";

/** A recorded event as a front end shows it, as small plain JSON. `pos` is its position in the ledger. */
export type RecordedEvent = { readonly pos: number } & (
  | { readonly type: "turn"; readonly turn: number; readonly model: string | null }
  /** The whole text of a turn. It replaces the live text. */
  | { readonly type: "message"; readonly turn: number; readonly text: string }
  | { readonly type: "notice"; readonly text: string }
  | { readonly type: "proposed"; readonly callId: string; readonly turn: number; readonly tool: string }
  | {
      readonly type: "decided";
      readonly callId: string;
      readonly tool: string;
      readonly input: JsonObject;
      readonly cwd: string;
      readonly verdict: Verdict;
      readonly reason: string;
      readonly source: string;
      readonly rule: string | null;
    }
  /**
   * An answer must name approval, revision and fingerprint. `input` is null if the request changed and is shown again under a higher
   * revision.
   */
  | {
      readonly type: "waiting";
      readonly callId: string;
      readonly approvalId: string;
      readonly revision: number;
      readonly fingerprint: string;
      readonly tool: string;
      readonly title: string;
      readonly input: JsonObject | null;
      readonly details: ConfirmationDetails;
      readonly suggestions: readonly string[];
      readonly expiresAt: string | null;
    }
  | {
      readonly type: "answered";
      readonly callId: string;
      readonly approvalId: string | null;
      readonly outcome: "approved" | "rejected" | "expired" | "cancelled" | "denied";
      readonly by: string;
      readonly reason: string | null;
    }
  | { readonly type: "running"; readonly callId: string }
  | {
      readonly type: "ended";
      readonly callId: string;
      readonly outcome: OutcomeState;
      readonly outcomeType: string | null;
      readonly text: string;
      /** What the tool returned, if that was a JSON value. */
      readonly value?: Json;
      readonly display: Display | null;
      readonly durationMs: number;
    }
  | {
      readonly type: "staged";
      readonly proposalId: string;
      readonly callId: string | null;
      readonly tool: string;
      readonly label: string;
      readonly files: number;
      readonly digest: string;
    }
  | { readonly type: "settled"; readonly proposalId: string; readonly state: ProposalState }
  | { readonly type: "question"; readonly questionId: string; readonly callId: string; readonly questions: readonly Question[] }
);

/** Converts a ledger event; undefined if front ends do not see it. `input` is what an approval was opened for. */
export function recordedEvent(event: LedgerEvent, input: JsonObject | null): RecordedEvent | undefined {
  return turnEvent(event) ?? callEvent(event) ?? approvalEvent(event, input) ?? proposalEvent(event);
}

function turnEvent({ type, body, pos }: LedgerEvent): RecordedEvent | undefined {
  switch (type) {
    case "turn.started":
      return { pos, type: "turn", turn: body.turn, model: body.model };
    case "message.assistant": {
      const text = body.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return { pos, type: "message", turn: body.turn, text };
    }
    case "notice.queued":
      return { pos, type: "notice", text: body.displayText };
    case "question.asked":
      return { pos, type: "question", questionId: body.question, callId: body.callId, questions: body.questions };
    default:
      return undefined;
  }
}

function callEvent({ type, body, pos }: LedgerEvent): RecordedEvent | undefined {
  switch (type) {
    case "call.proposed":
      return { pos, type: "proposed", callId: body.call, turn: body.turn, tool: body.tool };
    case "call.judged": {
      const { call, tool, input, cwd, verdict, reason, source, rule } = body;
      return { pos, type: "decided", callId: call, tool, input, cwd, verdict, reason, source, rule: rule?.text ?? null };
    }
    case "call.claimed":
      return { pos, type: "running", callId: body.call };
    case "call.ended": {
      const { call, outcome, type: outcomeType, content, display = null, durationMs } = body;
      const value = resultValue(body);
      const ended = { pos, type: "ended", callId: call, outcome, outcomeType, text: contentText(content), display, durationMs } as const;
      return value === undefined ? ended : { ...ended, value };
    }
    default:
      return undefined;
  }
}

function approvalEvent({ type, body, pos }: LedgerEvent, input: JsonObject | null): RecordedEvent | undefined {
  switch (type) {
    case "approval.opened": {
      const { call: callId, approval: approvalId, revision, fingerprint, tool, title, details, suggestions, expiresAt } = body;
      const shown = { tool, title, input, details, suggestions, expiresAt };
      return { pos, type: "waiting", callId, approvalId, revision, fingerprint, ...shown };
    }
    case "approval.answered": {
      const { call, approval, outcome, by, reason } = body;
      return { pos, type: "answered", callId: call, approvalId: approval, outcome, by: by.name, reason };
    }
    case "approval.closed": {
      const { call, approval, outcome, by } = body;
      return { pos, type: "answered", callId: call, approvalId: approval, outcome, by, reason: null };
    }
    case "call.answered": {
      const { call, by } = body;
      return { pos, type: "answered", callId: call, approvalId: null, outcome: "approved", by: `${by.kind} ${by.id}`, reason: null };
    }
    default:
      return undefined;
  }
}

function proposalEvent({ type, body, pos }: LedgerEvent): RecordedEvent | undefined {
  switch (type) {
    case "proposal.staged": {
      const { proposal, callId, tool, label, files, digest } = body;
      return { pos, type: "staged", proposalId: proposal, callId, tool, label, files, digest };
    }
    case "proposal.apply_failed":
      return { pos, type: "settled", proposalId: body.proposal, state: "staged" };
    case "proposal.applied":
      return { pos, type: "settled", proposalId: body.proposal, state: "applied" };
    case "proposal.discarded":
      return { pos, type: "settled", proposalId: body.proposal, state: "discarded" };
    case "proposal.stale":
      return { pos, type: "settled", proposalId: body.proposal, state: "stale" };
    case "proposal.superseded":
      return { pos, type: "settled", proposalId: body.proposal, state: "superseded" };
    case "proposal.unknown":
      return { pos, type: "settled", proposalId: body.proposal, state: "unknown" };
    case "proposal.undone":
      return { pos, type: "settled", proposalId: body.proposal, state: "undone" };
    default:
      return undefined;
  }
}

import type { JsonObject } from "./json.ts";

/** A rule, and where it is written. */
export type RuleRef = {
  readonly text: string;
  readonly source?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly because?: string;
};

/** A pending approval. */
export type Approval = {
  readonly id: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly title: string;
  readonly reason: string;
  readonly rule?: RuleRef;
  readonly requestedAt: string;
  readonly expiresAt?: string;
  readonly fingerprint: string;
  /** Set for a parked question. */
  readonly questions?: readonly Question[];
  /** Set for a proposal. */
  readonly proposalId?: string;
};

/** How an approval can be remembered, from narrow to wide. */
export type Suggestion = {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly scope: "once" | "session" | "project" | "user";
  readonly rule?: string;
  /** What a wider rule permits beyond this call, in one sentence. */
  readonly risk?: string;
};

/** A call that needs approval: the frozen request, and why. */
export type ToolRequest = {
  readonly approval_id: string;
  readonly tool_name: string;
  readonly display_name: string;
  readonly tool_use_id: string;
  readonly input: JsonObject;
  readonly fingerprint: string;
  readonly title: string;
  readonly description: string;
  /** Paths, command or host that the runtime found. */
  readonly facts: JsonObject | null;
  readonly blocked_path: string | null;
  /** `text` is a sentence. */
  readonly decision_reason: { readonly reason: string; readonly source: string; readonly rule?: RuleRef; readonly text: string };
  readonly permission_suggestions: readonly Suggestion[];
  /** The task id of the agent; null for the main agent. */
  readonly agent_id: string | null;
  readonly agent_name?: string;
  readonly preview?: unknown;
  readonly expires_at: string | null;
  /** Why the edited input of the last answer was refused. */
  readonly edit_error?: string;
  /** Why the last answer was refused. */
  readonly answer_error?: string;
};

/** The chosen files of a proposal: whole, some hunks of them, or with content that the person wrote instead. */
export type ProposalPart = {
  readonly files: readonly { readonly path: string; readonly hunks?: readonly string[]; readonly content?: string }[];
};

/** What an approval applies instead of the whole call. */
export type AppliedChoice = {
  /** The id of the shown preview (`preview.effect.id`): writes its changes and does not run the command. */
  readonly write?: string;
  /** For a call of `resolve`, or a proposal: applies only this part. */
  readonly part?: ProposalPart;
};

/**
 * The host's answer. An `updatedInput` is decided again, and is what runs. With `preview`, the call runs on a copy of the workspace and is
 * asked about again; `preview.effect` of the request says whether that is offered, and then what it did.
 */
export type ToolAnswer =
  | ({ readonly behavior: "allow"; readonly updatedInput?: JsonObject; readonly remember?: string } & AppliedChoice)
  | { readonly behavior: "preview" }
  | { readonly behavior: "deny"; readonly message?: string; readonly interrupt?: boolean };

/** A question to a person. */
export type Question = {
  readonly id: string;
  readonly question: string;
  readonly multi: boolean;
  readonly recommended?: number;
  readonly allowCustom: boolean;
  readonly options: readonly { readonly label: string; readonly description?: string }[];
};

/** The questions of one call. */
export type QuestionRequest = { readonly id: string; readonly callId: string; readonly questions: readonly Question[] };

/** A person's answers. An empty `selected` leaves a question unanswered. */
export type QuestionAnswer =
  | {
      readonly outcome: "answered";
      readonly answers: readonly {
        readonly id: string;
        readonly selected: readonly string[];
        readonly custom?: string;
        readonly note?: string;
      }[];
    }
  | { readonly outcome: "cancelled"; readonly reason?: string };

/** Who answered, and where. */
export type AnsweredBy = {
  readonly kind: string;
  readonly user: string;
  readonly name: string;
  readonly door: string;
  readonly pid: number;
};

/** The result of answering an approval. */
export type AnswerReport = {
  readonly id: string;
  readonly outcome: string;
  readonly alreadyAnswered: boolean;
  readonly answeredBy: AnsweredBy | null;
  readonly answeredAt: string | null;
};

import type { JsonObject } from "./json.ts";

/** A rule as it was written, and where it stands. */
export type RuleRef = {
  readonly text: string;
  readonly source?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly because?: string;
};

/** An approval that waits, in short. */
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
  /** Of a parked question. */
  readonly questions?: readonly Question[];
  /** Of a proposal that waits for a person. */
  readonly proposalId?: string;
};

/** What a yes may be remembered as, narrow to wide. */
export type Suggestion = {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly scope: "once" | "session" | "project" | "user";
  readonly rule?: string;
};

/** A call that asks: the frozen request, and why. */
export type ToolRequest = {
  readonly approval_id: string;
  readonly tool_name: string;
  readonly display_name: string;
  readonly tool_use_id: string;
  readonly input: JsonObject;
  readonly fingerprint: string;
  readonly title: string;
  readonly description: string;
  /** What the runtime found out by itself: paths, command, host. */
  readonly facts: JsonObject | null;
  readonly blocked_path: string | null;
  /** Why it asks; `text` says it in a sentence. */
  readonly decision_reason: { readonly reason: string; readonly source: string; readonly rule?: RuleRef; readonly text: string };
  readonly permission_suggestions: readonly Suggestion[];
  /** The agent that asks, as tasks are named; null: the main one. */
  readonly agent_id: string | null;
  /** The same for people. */
  readonly agent_name?: string;
  readonly preview?: unknown;
  readonly expires_at: string | null;
  /** The edited input of the answer before did not fit. */
  readonly edit_error?: string;
  /** The answer before was none. */
  readonly answer_error?: string;
};

/** The host's answer to a call that asks. A different input is an edit: it is judged again and is what runs. */
export type ToolAnswer =
  | { readonly behavior: "allow"; readonly updatedInput?: JsonObject; readonly remember?: string }
  | { readonly behavior: "deny"; readonly message?: string; readonly interrupt?: boolean };

/** One question to a person. */
export type Question = {
  readonly id: string;
  readonly question: string;
  readonly multi: boolean;
  readonly recommended?: number;
  readonly allowCustom: boolean;
  readonly options: readonly { readonly label: string; readonly description?: string }[];
};

/** Questions of one call. */
export type QuestionRequest = { readonly id: string; readonly callId: string; readonly questions: readonly Question[] };

/** A person's answers; an empty `selected` leaves a question unanswered. */
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

/** Who answered, from where. */
export type AnsweredBy = {
  readonly kind: string;
  readonly user: string;
  readonly name: string;
  readonly door: string;
  readonly pid: number;
};

/** What an approval came to. */
export type AnswerReport = {
  readonly id: string;
  readonly outcome: string;
  readonly alreadyAnswered: boolean;
  readonly answeredBy: AnsweredBy | null;
  readonly answeredAt: string | null;
};

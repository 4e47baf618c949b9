import type { ConfirmationDetails } from "../../model/confirmation.ts";
import type { EventBodies } from "../../model/events.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { ToolResult } from "../../model/result/result.ts";
import type { Maybe } from "../../tool-definition.ts";

/** The texts of a call of `resolve`. */
export type ResolveWords = { readonly reason: string; readonly extra: JsonObject | undefined };

/** A question that only a person may answer, not a grant, rule, hook or mode. */
export type StandingQuestion = {
  /** What the person sees. */
  readonly details: ConfirmationDetails;
  /** Digest of what the person sees. The consent is bound to it. */
  readonly digest: string;
  readonly label?: string;
  /** The model's text if no one can be asked. */
  readonly unattended?: string;
  /** The model's text after a rejection. */
  readonly rejected?: (reason: string | undefined) => { readonly type: string; readonly text: string };
};

/** What a standing handler receives when it is called. */
export type StandingContext = {
  readonly callId: string;
  readonly signal: AbortSignal;
  /** After this call, a cancel has no effect. */
  readonly commit: () => void;
  /** The digest that was shown, if a person was asked. */
  readonly digest: string | undefined;
  /** The person's recorded answer: who, `mode`, `reason`. */
  readonly answer: EventBodies["approval.answered"] | undefined;
};

/** A result, and its label if that depends on the texts. */
export type StandingResult = { readonly result: ToolResult | string; readonly label?: string };

/**
 * What `resolve` does if no proposal is pending, e.g. in plan mode. There is one per session, removed with its mode. It is not a proposal, has no
 * digest and forces no tool. Its errors are reported like those of an apply.
 */
export type StandingHandler = {
  readonly label: string;
  readonly sourceToolName: string;
  /** If present, an apply needs a person's consent. A result instead of a question (nothing to approve, a bad title) is the call's answer. Called when the request is frozen. */
  readonly ask?: (words: ResolveWords) => Maybe<StandingQuestion | { readonly answer: ToolResult }>;
  readonly apply: (words: ResolveWords, ctx: StandingContext) => Maybe<StandingResult>;
  /** If absent, a discard gets the standard text. */
  readonly reject?: (words: ResolveWords, ctx: StandingContext) => Maybe<StandingResult | undefined>;
  /** The text for a call that waited for this handler when it was removed. */
  readonly gone?: string;
};

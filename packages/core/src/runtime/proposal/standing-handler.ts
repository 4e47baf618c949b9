import type { ConfirmationDetails } from "../../model/confirmation.ts";
import type { EventBodies } from "../../model/events.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { ToolResult } from "../../model/result/result.ts";
import type { Maybe } from "../../tool-definition.ts";

/** The words of a call of `resolve`. */
export type ResolveWords = { readonly reason: string; readonly extra: JsonObject | undefined };

/** What only a person may answer: no grant, rule, hook or mode does. */
export type StandingQuestion = {
  /** What they are shown. */
  readonly details: ConfirmationDetails;
  /** Digest of what they are shown: the consent is bound to it. */
  readonly digest: string;
  readonly label?: string;
  /** The model's text if no one can be asked. */
  readonly unattended?: string;
  /** Told to the model after a no. */
  readonly rejected?: (reason: string | undefined) => { readonly type: string; readonly text: string };
};

/** What a standing handler receives when it is called. */
export type StandingContext = {
  readonly callId: string;
  readonly signal: AbortSignal;
  /** From here on a cancel comes too late. */
  readonly commit: () => void;
  /** The digest that was shown, where a person was asked. */
  readonly digest: string | undefined;
  /** The person's own answer, on disk: who, `mode`, `reason`. */
  readonly answer: EventBodies["approval.answered"] | undefined;
};

/** A result, and how it is called where the label depends on the words. */
export type StandingResult = { readonly result: ToolResult | string; readonly label?: string };

/**
 * What `resolve` means when no proposal is pending: owned by a mode, one per session, gone with it. It is no proposal, has no digest and forces nothing.
 * Its errors are told like those of an apply.
 */
export type StandingHandler = {
  readonly label: string;
  readonly sourceToolName: string;
  /** If present, an apply needs a person's consent. A result instead of a question (nothing to approve, a bad title) is the call's answer. Called when the request is frozen. */
  readonly ask?: (words: ResolveWords) => Maybe<StandingQuestion | { readonly answer: ToolResult }>;
  readonly apply: (words: ResolveWords, ctx: StandingContext) => Maybe<StandingResult>;
  /** Absent: a discard is answered in the plain words. */
  readonly reject?: (words: ResolveWords, ctx: StandingContext) => Maybe<StandingResult | undefined>;
  /** A line for a call that was frozen on this handler when it was taken away. */
  readonly gone?: string;
};

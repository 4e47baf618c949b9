import type { ConfirmationDetails } from "../../model/confirmation.ts";
import type { EventBodies } from "../../model/events.ts";
import type { JsonObject } from "../../model/json/json.ts";
import type { ToolResult } from "../../model/result/result.ts";
import type { Maybe } from "../../tool-definition.ts";

/** The reason and extra data of a `resolve` call. */
export type ResolveWords = { readonly reason: string; readonly extra: JsonObject | undefined };

/** A question that only a person may answer. */
export type FallbackQuestion = {
  readonly details: ConfirmationDetails;
  /** Binds the consent to the shown details. */
  readonly digest: string;
  readonly label?: string;
  /** The model's text if no one can be asked. */
  readonly unattended?: string;
  readonly rejected?: (reason: string | undefined) => { readonly type: string; readonly text: string };
};

/** The context of a fallback. */
export type FallbackContext = {
  readonly callId: string;
  readonly signal: AbortSignal;
  /** After this, a cancel is too late. */
  readonly commit: () => void;
  readonly digest: string | undefined;
  readonly answer: EventBodies["approval.answered"] | undefined;
};

/** A result, and its label if that depends on the input. */
export type FallbackResult = { readonly result: ToolResult | string; readonly label?: string };

/** Defines what `resolve` does when no proposal is pending; a session has at most one. */
export type ResolveFallback = {
  readonly label: string;
  readonly sourceToolName: string;
  /** If present, an apply needs a person's consent. Returning an answer ends the call. */
  readonly ask?: (words: ResolveWords) => Maybe<FallbackQuestion | { readonly answer: ToolResult }>;
  readonly apply: (words: ResolveWords, ctx: FallbackContext) => Maybe<FallbackResult>;
  /** If absent, a discard gets the default text. */
  readonly reject?: (words: ResolveWords, ctx: FallbackContext) => Maybe<FallbackResult | undefined>;
  /** Added to a waiting call's result after the handler was removed. */
  readonly gone?: string;
};

/** What a `resolve` call is about, chosen when its request is frozen. */
export type ResolveTarget =
  | { readonly kind: "proposal"; readonly id: string; readonly digest: string }
  | { readonly kind: "fallback"; readonly handler: ResolveFallback; readonly asked: FallbackReply }
  | { readonly kind: "gone"; readonly note: string | undefined }
  | {
      readonly kind: "none";
      readonly why: "nothing" | "ambiguous" | "unknown";
      readonly owner?: string | undefined;
    };

export type ChosenTarget = { readonly target: ResolveTarget; readonly action: ResolveInput["action"]; readonly id: string | undefined };

export type FallbackReply = { readonly question?: FallbackQuestion; readonly answer?: ToolResult; readonly digest?: string };

export type ResolveInput = {
  readonly action: "apply" | "discard";
  readonly reason: string;
  readonly extra?: JsonObject;
  readonly id?: string;
};

import type { JsonObject } from "../../model/json/json.ts";
import type { ToolResult } from "../../model/result/result.ts";
import type { StandingHandler, StandingQuestion } from "./standing-handler.ts";

/** What a call of `resolve` is about, chosen once when its request is frozen. */
export type ResolveTarget =
  | { readonly kind: "proposal"; readonly id: string; readonly digest: string }
  | { readonly kind: "standing"; readonly handler: StandingHandler; readonly asked: StandingReply }
  /** A question of a handler that is gone. */
  | { readonly kind: "gone"; readonly note: string | undefined }
  | {
      readonly kind: "none";
      readonly why: "nothing" | "ambiguous" | "unknown";
      /** The session that the named proposal is of. */
      readonly owner?: string | undefined;
    };

/** A target, and the words it was chosen for: other words may mean another. */
export type ChosenTarget = { readonly target: ResolveTarget; readonly action: ResolveInput["action"]; readonly id: string | undefined };

/** What a standing handler wants to be answered before it acts, or its answer at once. */
export type StandingReply = { readonly question?: StandingQuestion; readonly answer?: ToolResult; readonly digest?: string };

/** The input of `resolve`, as its schema lets it pass. */
export type ResolveInput = {
  readonly action: "apply" | "discard";
  readonly reason: string;
  readonly extra?: JsonObject;
  readonly id?: string;
};

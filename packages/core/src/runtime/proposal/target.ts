import type { JsonObject } from "../../model/json/json.ts";
import type { ToolResult } from "../../model/result/result.ts";
import type { StandingHandler, StandingQuestion } from "./standing-handler.ts";

/** What a `resolve` call is about, chosen when its request is frozen. */
export type ResolveTarget =
  | { readonly kind: "proposal"; readonly id: string; readonly digest: string }
  | { readonly kind: "standing"; readonly handler: StandingHandler; readonly asked: StandingReply }
  | { readonly kind: "gone"; readonly note: string | undefined }
  | {
      readonly kind: "none";
      readonly why: "nothing" | "ambiguous" | "unknown";
      readonly owner?: string | undefined;
    };

/** A target and the input it was chosen for. */
export type ChosenTarget = { readonly target: ResolveTarget; readonly action: ResolveInput["action"]; readonly id: string | undefined };

/** A standing handler's question, or its immediate answer. */
export type StandingReply = { readonly question?: StandingQuestion; readonly answer?: ToolResult; readonly digest?: string };

/** The validated input of `resolve`. */
export type ResolveInput = {
  readonly action: "apply" | "discard";
  readonly reason: string;
  readonly extra?: JsonObject;
  readonly id?: string;
};

import type { JsonObject } from "../../model/json/json.ts";
import type { ToolResult } from "../../model/result/result.ts";
import type { StandingHandler, StandingQuestion } from "./standing-handler.ts";

/** The target of a call of `resolve`, chosen once when its request is frozen. */
export type ResolveTarget =
  | { readonly kind: "proposal"; readonly id: string; readonly digest: string }
  | { readonly kind: "standing"; readonly handler: StandingHandler; readonly asked: StandingReply }
  /** A question of a handler that was removed. */
  | { readonly kind: "gone"; readonly note: string | undefined }
  | {
      readonly kind: "none";
      readonly why: "nothing" | "ambiguous" | "unknown";
      /** The session of the named proposal. */
      readonly owner?: string | undefined;
    };

/** A target, and the texts it was chosen for. Other texts may mean another target. */
export type ChosenTarget = { readonly target: ResolveTarget; readonly action: ResolveInput["action"]; readonly id: string | undefined };

/** A standing handler's question for a person, or its immediate result. */
export type StandingReply = { readonly question?: StandingQuestion; readonly answer?: ToolResult; readonly digest?: string };

/** The validated input of `resolve`. */
export type ResolveInput = {
  readonly action: "apply" | "discard";
  readonly reason: string;
  readonly extra?: JsonObject;
  readonly id?: string;
};

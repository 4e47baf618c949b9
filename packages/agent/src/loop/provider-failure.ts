import { APICallError } from "@ai-sdk/provider";
import { ModelError } from "../providers/model-error.ts";
import { ScriptFailure } from "../script/script.ts";
import { BrokenAnswer } from "./stream-answer.ts";

/** Why a request to a model failed, as the end of a run says it. */
export function providerFailure(error: unknown): { readonly type: string; readonly message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ScriptFailure || error instanceof ModelError) return { type: error.type, message };
  const cause = error instanceof BrokenAnswer ? error.cause : error;
  const isShut = APICallError.isInstance(cause) && (cause.statusCode === 401 || cause.statusCode === 403);
  return { type: isShut ? "provider_auth" : "provider_error", message };
}

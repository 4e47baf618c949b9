import { APICallError } from "@ai-sdk/provider";
import { messageOf } from "@assent/core";
import { PROVIDERS, type ProviderRow } from "../../providers/provider-table.ts";
import { ModelError } from "../../providers/resolve-model.ts";
import { ScriptFailure } from "../../script/script.ts";
import { BrokenAnswer, NotAStream } from "./stream-answer.ts";

/** Why a request failed, and what to check. */
export type ProviderFailure = { readonly type: string; readonly message: string; readonly hint?: string };

/** Describes a failed request: the model, its address and the provider's answer. */
export function providerFailure(error: unknown, modelId = ""): ProviderFailure {
  const message = messageOf(error);
  if (error instanceof ScriptFailure) return { type: error.type, message };
  if (error instanceof ModelError) return { type: error.type, message, hint: error.hint };
  const cause = error instanceof BrokenAnswer ? error.cause : error;
  const type = isAuthFailure(cause) ? "provider_auth" : "provider_error";
  const provider = modelId.slice(0, Math.max(modelId.indexOf(":"), 0));
  const row = Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;
  if (!row) return { type, message: withStatus(cause, message) };
  const hint = hintFor(cause, provider, row);
  return { type, message: `${modelId}${describeFailure(cause, message)}`, ...(hint !== undefined && { hint }) };
}

/** For a model that is not in the provider table, only the status is known. */
function withStatus(cause: unknown, message: string): string {
  const status = APICallError.isInstance(cause) ? (cause.statusCode ?? 0) : 0;
  return status < 400 ? message : `${withoutFinalPeriod(message)} (status ${status})`.trimStart();
}

/** Removes the final period, so that more text can follow. */
export function withoutFinalPeriod(message: string): string {
  return message.replace(/[.\s]+$/, "");
}

function isAuthFailure(cause: unknown): boolean {
  return APICallError.isInstance(cause) && (cause.statusCode === 401 || cause.statusCode === 403);
}

function isUnreachable(cause: unknown): cause is APICallError {
  return APICallError.isInstance(cause) && cause.statusCode === undefined;
}

/** The text after the model's id. If the error has no data, its message is only the name of the status. */
function describeFailure(cause: unknown, message: string): string {
  if (!APICallError.isInstance(cause)) return `: ${message}`;
  const at = addressOf(cause.url);
  const { statusCode: status = 0, data } = cause;
  if (isUnreachable(cause)) return `${at} cannot be reached (${cause.cause instanceof Error ? cause.cause.message : message}).`;
  if (status < 400) return `${at}: ${message}`;
  if (data !== undefined) return `${at} answered ${status}: ${message}`;
  return `${at} answered ${withoutFinalPeriod(`${status} ${message}`)}.`;
}

/** Leaves out query, name and password, which may contain keys. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return "";
  const { origin, pathname } = new URL(url);
  return ` at ${origin}${pathname}`;
}

function hintFor(cause: unknown, provider: string, { keys, keyless, base, baseVariable }: ProviderRow): string | undefined {
  if (isAuthFailure(cause)) return `Check ${keys.join(" or ")}, which holds the key.`;
  if (cause instanceof NotAStream) return `Check ${baseVariable}.`;
  if (isUnreachable(cause)) {
    const server = base === undefined ? "the server" : provider;
    return keyless ? `Is ${server} running? ${baseVariable} says where.` : `Check the network, and ${baseVariable} where it is set.`;
  }
  const isNotThere = APICallError.isInstance(cause) && cause.statusCode === 404;
  return isNotThere ? `Check the model's name, and ${baseVariable}${base === undefined ? "" : " where it is set"}.` : undefined;
}

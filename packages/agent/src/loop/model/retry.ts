import { APICallError } from "@ai-sdk/provider";
import { type Clock, isObject } from "@assent/core";
import { BrokenAnswer } from "./stream-answer.ts";

const RETRIES = 4;
/** A refused connection is retried less: a restarting server is back within seconds, and a wrong address should be reported soon. */
const REFUSED_RETRIES = 2;
const FIRST_WAIT_MS = 1_000;
/** If a provider asks for a longer wait, the request fails. */
const LONGEST_WAIT_MS = 120_000;

export type FailedRequest = {
  readonly error: unknown;
  readonly failures: number;
  readonly now: number;
};

/**
 * How long to wait before the request is retried; undefined if it is not. The first that applies decides: 1. all retries are used 2. the
 * answer already had complete calls 3. the provider says it is final, the quota is spent, or the connection was refused three times 4.
 * overload, rate limit, server or network failure, broken answer: retry. Everything else is final.
 */
export function retryDelay({ error, failures, now }: FailedRequest): number | undefined {
  if (failures > RETRIES) return undefined;
  if (error instanceof BrokenAnswer && error.calls > 0) return undefined;
  const broken = error instanceof BrokenAnswer;
  const cause = broken ? error.cause : error;
  if (!isTemporary(cause, broken)) return undefined;
  if (failures > REFUSED_RETRIES && hasCode(cause, REFUSED)) return undefined;
  const requestedDelay = readRequestedDelay(cause, now);
  if (requestedDelay !== undefined) return requestedDelay > LONGEST_WAIT_MS ? undefined : requestedDelay;
  return FIRST_WAIT_MS * 2 ** (failures - 1);
}

function isTemporary(cause: unknown, broken: boolean): boolean {
  const { status, retryable, kind } = readFailure(cause);
  if (retryable === false || /insufficient_quota|billing_error|invalid_request/.test(kind)) return false;
  if (status !== undefined) return status === 408 || status === 429 || status >= 500;
  return broken || APICallError.isInstance(cause) || hasCode(cause, NETWORK);
}

type FailureFields = { readonly status: number | undefined; readonly retryable: boolean | undefined; readonly kind: string };

/** A failure inside a stream is a bare object, sometimes with only a type and a code. */
function readFailure(cause: unknown): FailureFields {
  const { statusCode, isRetryable, responseBody, type, code }: Readonly<Record<string, unknown>> = isObject(cause) ? cause : {};
  // A connection lost during an answer is an error with status 200.
  const status = [statusCode, code].map(Number).find((number) => number >= 400 && number < 600);
  return {
    status,
    retryable: typeof isRetryable === "boolean" ? isRetryable : undefined,
    kind: [responseBody, type, code].filter((text) => typeof text === "string").join("\n"),
  };
}

const NETWORK = /^(?:ECONN(?:RESET|REFUSED|ABORTED)|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|UND_ERR_)/;

const REFUSED = /^ECONNREFUSED$/;

function hasCode(error: unknown, code: RegExp): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if ("code" in at && typeof at.code === "string" && code.test(at.code)) return true;
    if (at instanceof AggregateError && at.errors.some((one) => hasCode(one, code))) return true;
  }
  return false;
}

/** Reads the wait that the provider asked for from its headers or its error body. */
function readRequestedDelay(cause: unknown, now: number): number | undefined {
  if (!APICallError.isInstance(cause)) return undefined;
  const headers = cause.responseHeaders ?? {};
  const exact = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (exact >= 0) return exact;
  const after = headers["retry-after"]?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(after)) return Number.parseFloat(after) * 1_000;
  const date = Date.parse(after);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  const detail = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(cause.responseBody ?? "")?.[1];
  return detail === undefined ? undefined : Number.parseFloat(detail) * 1_000;
}

export type RetryOptions = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A retry is about to start. */
  readonly retrying?: (attempt: { readonly delayMs: number; readonly error: unknown }) => void;
};

/** Makes a request and retries it while the failure may be temporary. Rejects with the last failure, or with the signal's reason. */
export async function withRetries<T>(request: () => Promise<T>, { clock, signal, retrying }: RetryOptions): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await request();
    } catch (error) {
      const delayMs = signal.aborted ? undefined : retryDelay({ error, failures, now: clock.now() });
      if (delayMs === undefined) throw error;
      retrying?.({ delayMs, error });
      await wait(delayMs, clock, signal);
    }
  }
}

function wait(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal.reason);
    };
    const elapsed = (): void => {
      signal.removeEventListener("abort", abort);
      resolve();
    };
    const cancel = clock.timer(ms, elapsed, { keepsAlive: true });
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
  });
}

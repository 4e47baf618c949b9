import { getSystemErrorMessage } from "node:util";
import { messageOf } from "@assent/core";
import { errorCode } from "../../system/error-code.ts";

/** Carries what a caller's own function threw past everything that explains the failures of files. */
export class CallerError extends Error {}

/** Calls a function of the caller. */
export async function callCaller<T>(give: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await give();
  } catch (cause) {
    throw new CallerError("a function of the caller threw", { cause });
  }
}

/** Tells of which file a failure speaks: the system knows it by a temporary name. The code stays. */
export async function namingFile<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    throw Object.assign(new Error(`${path}: ${systemErrorText(error)}`, { cause: error }), { code });
  }
}

/** What went wrong, in words: of the caller's own function those that it threw. */
export function failureText(error: unknown): string {
  return error instanceof CallerError ? failureText(error.cause) : messageOf(error);
}

function systemErrorText(error: unknown): string {
  const number = error instanceof Error && "errno" in error && typeof error.errno === "number" ? error.errno : undefined;
  return number === undefined ? messageOf(error) : `${getSystemErrorMessage(number)} (${errorCode(error)})`;
}

import { getSystemErrorMessage } from "node:util";
import { errorCode, messageOf } from "@assent/core";

/** Carries an error of the caller's own function past the code that explains file errors. */
export class CallerError extends Error {}

export async function callCaller<T>(give: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await give();
  } catch (cause) {
    throw new CallerError("a function of the caller threw", { cause });
  }
}

/** Puts the real file name into an error, because the system only knows the temporary one. */
export async function namingFile<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    throw Object.assign(new Error(`${path}: ${systemErrorText(error)}`, { cause: error }), { code });
  }
}

export function failureText(error: unknown): string {
  return error instanceof CallerError ? failureText(error.cause) : messageOf(error);
}

function systemErrorText(error: unknown): string {
  const number = error instanceof Error && "errno" in error && typeof error.errno === "number" ? error.errno : undefined;
  return number === undefined ? messageOf(error) : `${getSystemErrorMessage(number)} (${errorCode(error)})`;
}

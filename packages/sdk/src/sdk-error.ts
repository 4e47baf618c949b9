/**
 * `not_started`: the program could not be started or did not answer. `process_exited`: it ended too early. `refused`: it refused a request;
 * see `reason`. `protocol`: it sent something invalid. `aborted`: by the host's signal. `closed`: used after the end.
 */
export type SdkErrorType = "not_started" | "process_exited" | "refused" | "protocol" | "aborted" | "closed";

/** How a process ended, and the end of its stderr. */
export type Exit = { readonly code: number | null; readonly signal: string | null; readonly stderr: string };

/** The error of this package. */
export class SdkError extends Error {
  readonly type: SdkErrorType;
  /** For `refused`: the error type of Assent. */
  readonly reason: string | undefined;
  /** For `process_exited`. */
  readonly exit: Exit | undefined;

  constructor(
    type: SdkErrorType,
    message: string,
    more: { readonly reason?: string; readonly exit?: Exit; readonly cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "SdkError";
    this.type = type;
    this.reason = more.reason;
    this.exit = more.exit;
  }
}

export function exitedEarly(exit: Exit): SdkError {
  const how = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
  const told = exit.stderr.trim();
  return new SdkError("process_exited", `Assent ${how}${told === "" ? "." : `: ${told}`}`, { exit });
}

/**
 * What went wrong, for programs.
 * `not_started`: the program could not be started, or never said hello. `process_exited`: it ended before its work did. `refused`: it answered a
 * request with an error, whose type is `reason`. `protocol`: it said what cannot be understood. `aborted`: the host's signal. `closed`: used after the end.
 */
export type SdkErrorType = "not_started" | "process_exited" | "refused" | "protocol" | "aborted" | "closed";

/** How a process ended, and the last it said on stderr. */
export type Exit = { readonly code: number | null; readonly signal: string | null; readonly stderr: string };

/** The one error of this package. */
export class SdkError extends Error {
  readonly type: SdkErrorType;
  /** With `refused`: the error type that Assent gave. */
  readonly reason: string | undefined;
  /** With `process_exited`: how it ended. */
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

/** What to say of a process that ended too early. */
export function exitedEarly(exit: Exit): SdkError {
  const how = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
  const told = exit.stderr.trim();
  return new SdkError("process_exited", `Assent ${how}${told === "" ? "." : `: ${told}`}`, { exit });
}

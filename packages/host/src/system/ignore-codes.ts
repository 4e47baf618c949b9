import { errorCode } from "@assent/core";

/** A handler for `catch`: undefined for system errors with one of these codes; other errors are thrown again. */
export function ignoreCodes(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(errorCode(error) ?? "")) throw error;
    return undefined;
  };
}

import { ERROR_TYPES, isCustomType, isErrorType } from "../error-types.ts";

/** Error types by the system's error code. */
const BY_CODE: Readonly<Record<string, string>> = Object.freeze({
  ENOENT: "file_not_found",
  EACCES: "permission_denied",
  EPERM: "permission_denied",
  ENOSPC: "no_space_left",
  EISDIR: "target_is_directory",
  ENOTDIR: "path_is_not_a_directory",
  EEXIST: "attempt_to_create_existing_file",
});

/** The message of a thrown value; never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown).toWellFormed();
  } catch {
    return "unknown error";
  }
}

/** The `code` of a system error, such as `ENOENT`; undefined for anything else. */
export function errorCode(thrown: unknown): string | undefined {
  return read(thrown, "code");
}

/** The error type of a thrown value: its own if allowed, else by system code, else `execution_failed`. */
export function errorTypeOf(thrown: unknown): string {
  try {
    const type = read(thrown, "type");
    if (type !== undefined && mayClaim(type)) return type;
    const code = errorCode(thrown);
    return code !== undefined && Object.hasOwn(BY_CODE, code) ? (BY_CODE[code] ?? "execution_failed") : "execution_failed";
  } catch {
    return "execution_failed";
  }
}

function read(thrown: unknown, key: "type" | "code"): string | undefined {
  const value: unknown = thrown instanceof Error ? Reflect.get(thrown, key) : undefined;
  return typeof value === "string" ? value : undefined;
}

/** A body that throws has failed; it cannot claim to have been denied, cancelled or never started. */
function mayClaim(type: string): boolean {
  return isErrorType(type) ? ERROR_TYPES[type].includes("failed") : isCustomType(type);
}

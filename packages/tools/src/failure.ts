import { errorCode, messageOf, type ToolResult } from "@assent/core";

/** A failed result: a message for the model and an error type for programs. */
export function failure(type: string, message: string): ToolResult {
  return { content: `Error: ${message}`, display: message, error: { type, message } };
}

/** True for a result; prepared work has no `content`. */
export function isResult<T extends object>(given: T | ToolResult): given is ToolResult {
  return "content" in given;
}

type Explanation = readonly [type: string, text: (shown: string) => string];

const BY_CODE: Readonly<Record<string, Explanation>> = {
  ENOENT: ["file_not_found", (shown) => `${shown} does not exist.`],
  EACCES: ["permission_denied", (shown) => `The operating system does not permit access to ${shown}.`],
  EPERM: ["permission_denied", (shown) => `The operating system does not permit access to ${shown}.`],
  EROFS: ["permission_denied", (shown) => `${shown} is on a read-only file system.`],
  ENOSPC: ["no_space_left", (shown) => `There is no space left for ${shown}.`],
  EDQUOT: ["no_space_left", (shown) => `There is no space left for ${shown}: the quota is used up.`],
  EISDIR: ["target_is_directory", (shown) => `${shown} is a directory.`],
  ENOTDIR: ["path_is_not_a_directory", (shown) => `A part of ${shown} is a file, not a directory.`],
  ERR_FILE_TOO_LARGE: ["file_too_large", (shown) => `${shown} is too large.`],
  ERR_PLACE_CHANGED: [
    "execution_denied",
    (shown) => `${shown} no longer leads where it did when the call was judged, or is being replaced.`,
  ],
  ERR_NOT_REGULAR_FILE: ["target_not_regular_file", (shown) => `${shown} is not a regular file.`],
};

/** The failure for a system error; `otherwise` is the type for unknown ones. */
export function fileFailure(error: unknown, { shown, otherwise }: { readonly shown: string; readonly otherwise: string }): ToolResult {
  const known = BY_CODE[errorCode(error) ?? ""];
  if (known) return failure(known[0], known[1](shown));
  return failure(otherwise, `${shown}: ${messageOf(error)}`);
}

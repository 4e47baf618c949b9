import type { ToolSource } from "./discover.ts";

/** Why something of a custom tool is not there. */
export type ToolFailure = {
  readonly file: string;
  readonly tool?: string;
  readonly reason: string;
  readonly type: FailureType;
};

/** The kinds of failure, by which programs tell them apart. */
export type FailureType = "load_error" | "bad_export" | "factory_error" | "factory_timeout" | "bad_tool" | "duplicate_name" | "untrusted";

/** What people are told about a failure. */
export function failureText({ file, reason, type }: ToolFailure): string {
  return type === "untrusted" ? reason : `Custom tool failed: ${file}: ${reason}`;
}

/** The words of whatever was thrown, on one line; never throws itself. */
export function wordsOf(thrown: unknown): string {
  try {
    const words = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
    const [first = ""] = words.toWellFormed().trim().split("\n");
    return first.replace(/\p{Cc}+/gu, " ").trim() || "unknown error";
  } catch {
    return "unknown error";
  }
}

/** A failure of a whole module. */
export function moduleFailure({ file }: ToolSource, type: FailureType, reason: string): ToolFailure {
  return { file, reason, type };
}

import { ToolDefinitionError } from "@assent/core/setup";

/** Why a custom tool is missing. */
export type ToolFailure = {
  readonly file: string;
  readonly tool?: string;
  readonly reason: string;
  readonly type: FailureType;
};

/** The kinds of failure. */
export type FailureType = "load_error" | "bad_export" | "factory_error" | "factory_timeout" | "bad_tool" | "duplicate_name" | "untrusted";

/** Describes a failure to people. */
export function failureText({ file, reason, type }: ToolFailure): string {
  return type === "untrusted" ? reason : `Custom tool failed: ${file}: ${reason}`;
}

/** The first line of an error's message. Never throws. */
export function errorLine(thrown: unknown): string {
  try {
    const words = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
    const [first = ""] = words.toWellFormed().trim().split("\n");
    return first.replace(/\p{Cc}+/gu, " ").trim() || "unknown error";
  } catch {
    return "unknown error";
  }
}

export function moduleFailure({ file }: { readonly file: string }, type: FailureType, reason: string): ToolFailure {
  return { file, reason, type };
}

const SCHEMA_CODES: readonly string[] = ["bad_schema", "schema_does_not_compile"];

export function definitionProblem(error: unknown, file: string): string {
  if (!(error instanceof ToolDefinitionError)) return `cannot be created: ${errorLine(error)}`;
  const why = errorLine(error.cause ?? error).replace(/^Tool '[^']*': /, "");
  if (!SCHEMA_CODES.includes(error.code)) return why.replace(/\.$/, "");
  const endless = /Maximum call stack size exceeded/.test(why) ? `the schema in ${file} is infinite (${why})` : why;
  return `parameters cannot be described: ${endless}`;
}

import { type Display, isObject, type ToolResult } from "@assent/core";
import { failure } from "../failure.ts";

/** Converts what a custom tool returned to a tool result. Anything without a list of content is an invalid result. */
export function readResult(name: string, returned: unknown): ToolResult {
  if (!isObject(returned) || !Array.isArray(returned["content"]))
    return failure("invalid_tool_result", `Tool '${name}' returned no valid result.`);
  const { isError, error, ...rest } = returned;
  const failed =
    error ?? (isError ? { message: joinText(returned).trim() || "The tool reported an error.", type: "execution_failed" } : undefined);
  // the runtime checks every field
  return { ...rest, ...(failed !== undefined && { error: failed }) } as unknown as ToolResult;
}

/** Converts an update of a running call to a display; undefined if it cannot be shown. */
export function readUpdate(soFar: unknown): Display | undefined {
  if (typeof soFar === "string") return soFar;
  return isObject(soFar) && Array.isArray(soFar["content"]) ? joinText(soFar) : undefined;
}

function joinText({ content }: Readonly<Record<string, unknown>>): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.flatMap((part) => (isObject(part) && typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
}

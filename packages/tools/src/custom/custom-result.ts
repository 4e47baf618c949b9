import { type Display, isObject, type ToolOutput, type ToolResult } from "@assent/core";
import { failure } from "../failure.ts";

/** Converts what a custom tool returned to a result or a plain value. The runtime checks every value and field. */
export function readResult(name: string, returned: unknown): ToolOutput {
  if (!isObject(returned)) return returned as ToolOutput;
  const { isError, error, content, ...rest } = returned;
  if (content === undefined && !isError && (error === undefined || error === null)) return returned as ToolOutput;
  if (content !== undefined && !Array.isArray(content))
    return failure("invalid_tool_result", `Tool '${name}' ran, but its result could not be kept: its content is not a list of parts.`);
  const parts = content ?? (Object.keys(rest).length === 0 ? [] : [{ type: "json", value: rest }]);
  const failed =
    error ??
    (isError ? { message: joinText({ content: parts }).trim() || "The tool reported an error.", type: "execution_failed" } : undefined);
  return { ...rest, content: parts, ...(failed !== undefined && { error: failed }) } as unknown as ToolResult;
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

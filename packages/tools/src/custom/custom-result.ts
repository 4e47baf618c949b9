import { type Display, isObject, type ToolResult } from "@assent/core";
import { failure } from "../failure.ts";

/** The result of a custom tool as the runtime knows results. Anything but a record with a list of content is none. */
export function readResult(name: string, returned: unknown): ToolResult {
  if (!isObject(returned) || !Array.isArray(returned["content"]))
    return failure("invalid_tool_result", `Tool '${name}' returned no valid result.`);
  const { isError, error, ...rest } = returned;
  const failed =
    error ?? (isError ? { message: joinText(returned).trim() || "The tool reported an error.", type: "execution_failed" } : undefined);
  // Parsing: the runtime checks every field of what a body returns.
  return { ...rest, ...(failed !== undefined && { error: failed }) } as unknown as ToolResult;
}

/** What people are shown of a call that is still running; undefined: nothing that can be shown. */
export function readUpdate(soFar: unknown): Display | undefined {
  if (typeof soFar === "string") return soFar;
  return isObject(soFar) && Array.isArray(soFar["content"]) ? joinText(soFar) : undefined;
}

function joinText({ content }: Readonly<Record<string, unknown>>): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts.flatMap((part) => (isObject(part) && typeof part["text"] === "string" ? [part["text"]] : [])).join("\n");
}

import { canonicalJson } from "./model/json/canonical.ts";
import type { Digest } from "./ports.ts";
import type { Tool } from "./tool-definition.ts";

const KNOWN = new WeakMap<Tool, string>();

/** Names one state of a tool's definition, so that a waiting call can tell that its tool was changed. Functions have no digest and do not count. */
export function toolDigest(tool: Tool, digest: Digest): string {
  const known = KNOWN.get(tool);
  if (known !== undefined) return known;
  const made = digest.sha256(digestText(tool));
  KNOWN.set(tool, made);
  return made;
}

function digestText({ title, inputSchema, definition }: Tool): string {
  const data: Record<string, unknown> = { title, inputSchema: schemaText(inputSchema) };
  for (const [field, value] of Object.entries(definition)) {
    if (field === "input" || field === "inputSchema" || field === "modify" || typeof value === "function") continue;
    data[field] = dataOf(value);
  }
  return canonicalJson(data);
}

/** Schemas may hold numbers that have no canonical form. */
function schemaText(schema: Tool["inputSchema"]): string {
  try {
    return canonicalJson(schema);
  } catch {
    return JSON.stringify(schema);
  }
}

function dataOf(value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY) return "Infinity";
  return typeof value === "string" ? value.toWellFormed() : value;
}

import { canonicalJson } from "./model/json/canonical.ts";
import type { Digest } from "./ports.ts";
import type { Tool } from "./tool-definition.ts";

const KNOWN = new WeakMap<Tool, string>();

/** Digest of a tool's definition without its functions, so that a waiting call notices a changed tool. */
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
    if (field === "input" || field === "inputSchema" || field === "modify" || field === "effectPreview" || typeof value === "function")
      continue;
    data[field] = dataOf(value);
  }
  return canonicalJson(data);
}

/** Schemas may hold numbers without a canonical form. */
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

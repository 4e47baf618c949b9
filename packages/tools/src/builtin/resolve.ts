import { defineTool, isObject, type Json, type Tool } from "@assent/core";
import { type Field, object, oneOf, optional, string } from "../schema/fields.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const MAX_EXTRA = 64 * 1024;
const MAX_DEPTH = 32;

/** Models with strict schemas send null for absent values. */
const id: Field<string | null> = {
  schema: { type: ["string", "null"], description: "Which pending action, if there are several.", maxLength: 64 },
  optional: false,
  fault: (value) => {
    if (value === null) return undefined;
    if (typeof value !== "string") return "must be string";
    return value.length > 64 ? "must NOT have more than 64 characters" : undefined;
  },
};

const extra: Field<Readonly<Record<string, Json>> | null> = {
  schema: { type: ["object", "null"], description: "Additional data that the preview asked for." },
  optional: false,
  fault: (value) => {
    if (value === null) return undefined;
    if (!isObject(value)) return "must be object";
    if (depth(value) > MAX_DEPTH) return `must NOT be nested deeper than ${MAX_DEPTH}`;
    return JSON.stringify(value).length > MAX_EXTRA ? `must NOT have more than ${MAX_EXTRA} characters as JSON` : undefined;
  },
};

function depth(value: unknown, at = 1): number {
  if (typeof value !== "object" || value === null || at > MAX_DEPTH) return at;
  return Math.max(at, ...Object.values(value).map((member) => depth(member, at + 1)));
}

const FIELDS = {
  action: oneOf({ description: "What to do with the pending action.", values: ["apply", "discard"] }),
  reason: string({ description: "Why, in a sentence.", maxLength: 4_000 }),
  extra: optional(extra),
  id: optional(id),
};

export const RESOLVE: ToolListing = { name: "resolve", title: "Resolve", kind: "other" };

/** Applies or discards a pending proposal. The runtime implements it; it is offered only if something is or can be pending. */
export function resolveTool(): Tool {
  return defineTool({
    ...listedFields(RESOLVE),
    hidden: true,
    input: object(FIELDS),
    runtimeHandler: "resolve",
    describe: ({ action, reason }) => `${action === "apply" ? "Apply" : "Discard"} the pending action: ${reason}`,
  });
}

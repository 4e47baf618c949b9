import { createHostPorts } from "@assent/host";
import { builtinTools } from "@assent/tools";

/** Inputs of the built-in tools whose schema alone does not say what a valid input is. */
const INPUTS: Readonly<Record<string, object>> = {
  list: { path: "." },
  ast_grep: { pattern: "a", paths: ["."] },
  ast_edit: { ops: [{ pat: "a", out: "b" }], paths: ["."] },
  edit: { file_path: "a.ts", old_string: "a", new_string: "b" },
  shell: { command: "make" },
  fetch: { url: "https://example.com/" },
  agent: { description: "look", prompt: "look" },
  schedule_create: { every: "10m", prompt: "look" },
  ask: { questions: [{ id: "q", question: "Which?", options: [{ label: "a" }, { label: "b" }] }] },
};

type Schema = {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minLength?: number;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
};

/** A valid input for a built-in tool: its row above, otherwise the smallest value that its schema accepts. */
export function sampleInput(name: string): object {
  const tools = builtinTools({ workspace: "/", ...createHostPorts({ stateDirectory: "/nonexistent" }), environment: {} });
  const schema = tools.find((tool) => tool.name === name)?.inputSchema; // made of the fields of tools/src/schema/fields.ts
  return INPUTS[name] ?? Object(sampleOf((schema ?? {}) as Schema));
}

function sampleOf({
  type,
  enum: values,
  minLength = 1,
  minItems = 0,
  minimum = 1,
  required = [],
  properties = {},
  items = {},
}: Schema): unknown {
  if (values) return values[0];
  if (type === "object") return Object.fromEntries(required.map((key) => [key, sampleOf(properties[key] ?? {})]));
  if (type === "array") return Array.from({ length: minItems }, () => sampleOf(items));
  if (type === "integer" || type === "number") return minimum;
  return type === "boolean" ? true : "a".repeat(minLength);
}

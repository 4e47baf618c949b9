import { defineTool, type Tool } from "@assent/core";
import { description } from "../description.ts";
import { type Field, object, optional, string } from "../schema/fields.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

/** An agent that the model can start. */
export type OfferedAgent = {
  readonly name: string;
  readonly description: string;
  /** Built in, and its tools and mode only read: it starts without asking. */
  readonly onlyReads?: boolean;
};

const SHOWN_BACKGROUND = {
  type: "boolean",
  description: "true: do not wait for it. false: wait, even if its definition says otherwise.",
} as const;

/** Accepts only true and false, never a value that looks like one. */
const background: Field<boolean> = {
  schema: { enum: [true, false], description: SHOWN_BACKGROUND.description },
  optional: false,
  fault: (value) => (typeof value === "boolean" ? undefined : "must be boolean"),
};

const FIELDS = {
  description: string({ description: "Three to five words for people.", minLength: 1, maxLength: 200 }),
  prompt: string({ description: "The whole task.", minLength: 1, maxLength: 200_000 }),
  agent: optional(string({ description: "The agent's name. If omitted, this conversation is forked.", maxLength: 64 })),
  run_in_background: optional(background),
};

export const AGENT: ToolListing = { name: "agent", title: "Agent", kind: "other", subject: "description" };

/** Starts an agent. The runtime implements it and judges the agent's own calls one by one. */
export function agentTool(agents: readonly OfferedAgent[] = []): Tool {
  const names = agents.map((agent) => `- ${agent.name}: ${agent.description}`);
  const input = object(FIELDS);
  const { run_in_background: _untyped, ...fields } = FIELDS;
  return defineTool({
    ...listedFields(AGENT),
    description: [description("agent"), names.length === 0 ? "There are no named agents here." : `Agents:\n${names.join("\n")}`].join(
      "\n\n",
    ),
    input,
    inputSchema: {
      type: "object",
      properties: {
        ...Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
        run_in_background: SHOWN_BACKGROUND,
      },
      required: ["description", "prompt"],
      additionalProperties: false,
    },
    runtimeHandler: "agent",
    permission: ({ agent }) => (agents.some(({ name, onlyReads }) => name === agent && onlyReads) ? "allow" : "ask"),
    describe: ({ agent = "fork", description: what }) => `Start agent ${agent}: ${what}`,
  });
}

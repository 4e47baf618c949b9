import { defineTool, type Tool, type ToolResult } from "@assent/core";
import { array, type InputOf, object, oneOf, record, string } from "../schema/fields.ts";
import { listedFields, type ToolListing } from "../tool-listing.ts";

const STATUSES = ["pending", "in_progress", "completed"] as const;

const FIELDS = {
  todos: array({
    description: "The complete list, in the order in which to do things.",
    maxItems: 200,
    items: record({
      id: string({ description: "A unique id of the item.", minLength: 1, maxLength: 64 }),
      content: string({ description: "What to do.", minLength: 1, maxLength: 1000 }),
      status: oneOf({ description: "The state of the item.", values: STATUSES }),
    }),
  }),
};

type TodoInput = InputOf<typeof FIELDS>;

export const TODO: ToolListing = { name: "todo", title: "Todo", kind: "think" };

/** Shows people the model's plan. The latest call is the list; nothing else stores it. */
export function todoTool(): Tool {
  return defineTool({
    ...listedFields(TODO),
    input: object(FIELDS),
    isOutputMarkdown: false,
    check: findRepeatedId,
    describe: ({ todos }) => `Set the todo list: ${describeCounts(todos)}`,
    permission: () => "allow",
    run: ({ todos }): ToolResult => ({ content: `The list has ${describeCounts(todos)}.`, display: { type: "todo_list", todos } }),
  });
}

function findRepeatedId({ todos }: TodoInput): string | undefined {
  const seen = new Set<string>();
  for (const [index, { id }] of todos.entries()) {
    if (seen.has(id)) return `params/todos/${index}/id must be unique: '${id}' occurs twice`;
    seen.add(id);
  }
  return undefined;
}

function describeCounts(todos: TodoInput["todos"]): string {
  const [pending, doing, done] = STATUSES.map((status) => todos.filter((todo) => todo.status === status).length);
  return `${todos.length} ${todos.length === 1 ? "item" : "items"}: ${done} completed, ${doing} in progress, ${pending} pending`;
}

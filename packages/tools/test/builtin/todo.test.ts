import assert from "node:assert/strict";
import { test } from "node:test";
import { session } from "../session.ts";

const item = (id: string, status = "pending") => ({ id, content: `do ${id}`, status });

test("the list is shown to people, and the model gets the counts", async (t) => {
  const todos = [item("a", "completed"), item("b", "in_progress"), item("c"), item("d")];
  const result = await session(t).call("todo", { todos });
  assert.deepEqual(result, {
    content: "The list has 4 items: 1 completed, 1 in progress, 2 pending.",
    display: { type: "todo_list", todos },
  });
});

test("an empty list is a list", async (t) => {
  assert.equal((await session(t).call("todo", { todos: [] })).content, "The list has 0 items: 0 completed, 0 in progress, 0 pending.");
});

test("a list sent as text is read", async (t) => {
  assert.equal((await session(t).call("todo", { todos: JSON.stringify([item("a")]) })).error, undefined);
});

const INVALID: readonly (readonly [name: string, todos: unknown, message: RegExp])[] = [
  ["an id that stands twice", [item("a"), item("b"), item("a")], /params\/todos\/2\/id must be unique: 'a' occurs twice/],
  ["a status that is none", [item("a", "done")], /params\/todos\/0\/status must be equal to one of/],
  ["an empty id", [item("")], /params\/todos\/0\/id must NOT have fewer than 1/],
  ["a content that is too long", [{ ...item("a"), content: "x".repeat(1001) }], /params\/todos\/0\/content must NOT have more than 1000/],
  ["more than 200 items", Array.from({ length: 201 }, (_, i) => item(String(i))), /params\/todos must NOT have more than 200 items/],
  ["a field too many", [{ ...item("a"), note: "" }], /params\/todos\/0 must NOT have additional property 'note'/],
];
for (const [name, todos, message] of INVALID) {
  test(`${name} is invalid`, async (t) => {
    const { error } = await session(t).call("todo", { todos });
    assert.equal(error?.type, "invalid_tool_params");
    assert.match(error.message, message);
  });
}

test("it changes nothing, so it never asks, and its kind is not a safe one", async (t) => {
  const tool = session(t).tool("todo");
  assert.equal(tool.kind, "think");
  assert.equal(await (await tool.build({ todos: [] })).permission(), "allow");
});

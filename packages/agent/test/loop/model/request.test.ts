import assert from "node:assert/strict";
import { test } from "node:test";
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { createRegistry, defineTool, listOfferedTools, memoryLedger, openSession, type Tool } from "@assent/core";
import { countingIds, manualClock } from "@assent/core/testing";
import { z } from "zod";
import { buildRequest } from "../../../src/loop/model/request.ts";

const { signal } = new AbortController();
const holder = { pid: 1, host: "h", processStart: "", door: "test" };

const tool = (name: string, hidden = false): Tool =>
  defineTool({ name, description: `${name} it`, kind: "read", input: z.object({}), hidden, run: () => name });

const previewing = (): Tool =>
  defineTool({
    ...{ name: "write", description: "write it", kind: "edit", input: z.object({}) },
    preview: () => "nothing to change",
    apply: () => "done",
  });

function request(tools: readonly Tool[]): LanguageModelV4CallOptions {
  return buildRequest({ messages: [], system: "", tools, choice: undefined, capability: "named", signal });
}

test("tools are declared once for all requests that offer the same, with ask and resolve behind those that are visible", async () => {
  const session = await openSession({ ledger: memoryLedger(), clock: manualClock(), ids: countingIds() }, { holder, create: { cwd: "/" } });
  const registry = createRegistry();
  for (const one of [tool("ask", true), tool("resolve", true), tool("read"), previewing()]) registry.add(one);
  const first = request(listOfferedTools(registry, { session, dispatcher: { denies: () => false }, canAsk: true })).tools;
  const again = request(listOfferedTools(registry, { session, dispatcher: { denies: () => false }, canAsk: true })).tools;
  assert.deepEqual(
    first?.map(({ name }) => name),
    ["read", "write", "ask", "resolve"],
  );
  assert.equal(again, first);
  registry.add(tool("search"));
  const more = request(listOfferedTools(registry, { session, dispatcher: { denies: () => false }, canAsk: true })).tools;
  assert.deepEqual(
    more?.map(({ name }) => name),
    ["read", "write", "search", "ask", "resolve"],
  );
  await session.close("done", 0);
});

test("a tool that is denied as a whole is not offered, and resolve only where a tool that stages is", async () => {
  const session = await openSession({ ledger: memoryLedger(), clock: manualClock(), ids: countingIds() }, { holder, create: { cwd: "/" } });
  const registry = createRegistry();
  for (const one of [tool("ask", true), tool("resolve", true), tool("read"), previewing()]) registry.add(one);
  const offered = (...denied: readonly string[]): readonly Tool[] =>
    listOfferedTools(registry, { session, dispatcher: { denies: ({ name }) => denied.includes(name) }, canAsk: true });
  const names = (...denied: readonly string[]): readonly string[] => offered(...denied).map(({ name }) => name);
  assert.deepEqual(names("read"), ["write", "ask", "resolve"]);
  assert.deepEqual(names("write"), ["read", "ask"]);
  assert.deepEqual(names("ask", "resolve"), ["read", "write"]);
  assert.equal(request(offered("read")).tools, request(offered("read")).tools);
  await session.close("done", 0);
});

test("a request without tools has neither tools nor a choice", () => {
  const made = buildRequest({ messages: [], system: "", tools: [], choice: "required", capability: "named", signal });
  assert.equal("tools" in made || "toolChoice" in made, false);
});

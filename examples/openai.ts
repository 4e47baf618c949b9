// Your own loop on OpenAI's API: declare the tools, hand over the calls of an answer, send back the messages. The same with `openaiResponses`.
import { createDispatcher, createRegistry, defineTool, makeChecker, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { openaiChat } from "@assent/gate";
import { createHostPorts, currentHolder } from "@assent/host";
import { z } from "zod";

const files = new Map([["notes.txt", "milk, eggs"]]);
const name = z.object({ name: z.string() });
const tools = createRegistry();
tools.add(
  defineTool({
    name: "read_note",
    description: "Reads a note.",
    kind: "read",
    input: name,
    run: (note) => files.get(note.name) ?? "empty",
  }),
);
tools.add(
  defineTool({
    name: "delete_note",
    description: "Deletes a note.",
    kind: "delete",
    input: name,
    run: (note) => (files.delete(note.name) ? "Deleted." : "There was none."),
  }),
);

const { checker } = makeChecker({ label: "user permissions", scope: "user", allow: ["read_note"], deny: ["delete_note"] });
const { clock, ids, digest } = createHostPorts({ stateDirectory: "/unused" });
const session = await openSession({ ledger: memoryLedger(), clock, ids }, { holder: currentHolder("example"), create: { cwd: "/" } });
const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy({ checkers: [checker] }) });
const openai = openaiChat({ session, dispatcher, tools });

// `client.chat.completions.create({ model, messages, tools: openai.tools() })` would answer this.
console.log(`declared: ${openai.tools().map((tool) => tool.function.name)}`);
const answer = {
  role: "assistant" as const,
  content: null,
  tool_calls: [
    { id: "call_1", type: "function" as const, function: { name: "read_note", arguments: '{"name":"notes.txt"}' } },
    { id: "call_2", type: "function" as const, function: { name: "delete_note", arguments: '{"name":"notes.txt"}' } },
    { id: "call_3", type: "function" as const, function: { name: "read_note", arguments: '{"name":' } },
  ],
};

const { messages, stop } = await openai.dispatch(answer.tool_calls, { signal: new AbortController().signal });
const history = [{ role: "user" as const, content: "Tidy my notes." }, answer, ...messages];
for (const message of history.slice(2)) console.log(JSON.stringify(message));
console.log(`may go on: ${stop === undefined}, notes left: ${files.size}`);

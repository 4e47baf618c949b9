// Hooks as functions of your program: one rewrites the input before it is judged, one denies, one gives the model feedback.
import { contentText, createDispatcher, createRegistry, defineTool, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { createFunctionHooks, createHostPorts, currentHolder } from "@assent/host";
import { z } from "zod";

const tools = createRegistry();
const input = z.object({ to: z.string(), text: z.string() });
tools.add(
  defineTool({ name: "mail", description: "Sends a mail.", kind: "other", input, run: ({ to, text }) => `Sent to ${to}: ${text}` }),
);

const { clock, ids, digest } = createHostPorts({ stateDirectory: "/unused" });
const ledger = memoryLedger();
const session = await openSession({ ledger, clock, ids }, { holder: currentHolder("example"), create: { cwd: "/" } });
const hooks = createFunctionHooks({
  session,
  hooks: {
    pre_tool_use: [
      function sign({ tool_input: mail }) {
        return { hookSpecificOutput: { updatedInput: { text: `${Reflect.get(Object(mail), "text")} -- Ann` } } };
      },
      {
        name: "inside only",
        matcher: "mail",
        timeoutMs: 5_000,
        run: ({ tool_input: mail }) => {
          const isInside = String(Reflect.get(Object(mail), "to")).endsWith("@example.test");
          return isInside ? undefined : { decision: "deny", reason: "mail leaves the company" };
        },
      },
    ],
    post_tool_use: () => ({ hookSpecificOutput: { additionalContext: "Mails are sent once an hour." } }),
  },
});
const dispatcher = createDispatcher({ session, clock, ids, digest, hooks, policy: staticPolicy({ mode: "yolo" }) });

const calls = ["ann@example.test", "eve@elsewhere.test"].map((to) => ({ id: to, name: "mail", arguments: { to, text: "Hello" } }));
const { results } = await dispatcher.process({ calls, tools, signal: new AbortController().signal });
for (const call of results)
  if (call.outcome !== "waiting") console.log(`${call.callId} ${call.outcome}: ${contentText(call.result.content)}`);

for await (const { body } of ledger.read({ session: session.id, seq: 0 }, { session: session.id, types: ["hook.ran"] }))
  console.log(`recorded: ${Reflect.get(body, "hook")} ${Reflect.get(body, "outcome")}`);
await session.close("done", 0);

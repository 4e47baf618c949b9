// The least of it: a tool, a rule, a dispatcher. Hand it what your model proposed; each call ends in exactly one result.
import { createDispatcher, createRegistry, defineTool, makeChecker, memoryLedger, openSession, staticPolicy } from "@assent/core";
import { createHostPorts, currentHolder } from "@assent/host";
import { z } from "zod";

const tools = createRegistry();
const input = z.object({ to: z.string() });
tools.add(defineTool({ name: "mail", description: "Sends a mail.", kind: "other", input, run: ({ to }) => `Sent to ${to}.` }));
const { checker } = makeChecker({ label: "my rules", scope: "user", allow: ["mail:to=*@example.test"] });

const { clock, ids, digest } = createHostPorts({ stateDirectory: "/unused" });
const session = await openSession({ ledger: memoryLedger(), clock, ids }, { holder: currentHolder("example"), create: { cwd: "/" } });
const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy({ checkers: [checker] }) });

const calls = ["ann@example.test", "eve@elsewhere.test"].map((to) => ({ id: to, name: "mail", arguments: { to } }));
const { results } = await dispatcher.process({ calls, tools, signal: new AbortController().signal });
for (const call of results) console.log(call.callId, call.outcome);

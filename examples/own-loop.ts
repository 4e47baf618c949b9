// A complete agent loop: call the model, pass its tool calls to the dispatcher, append the results, repeat until it makes no more calls.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentText, createDispatcher, createRegistry, defineTool, makeChecker, openSession, staticPolicy } from "@assent/core";
import { createHostPorts, currentHolder } from "@assent/host";
import { openLedger } from "@assent/store";
import { z } from "zod";

const stock = new Map([["apples", 3]]);
const item = z.object({ item: z.string() });
const items = z.object({ item: z.string(), amount: z.number() });
const tools = createRegistry();
const count = ({ item }: { item: string }): string => `${stock.get(item) ?? 0} ${item}`;
tools.add(defineTool({ name: "count", description: "Counts an item.", kind: "read", input: item, run: count }));
const order = ({ item, amount }: { item: string; amount: number }): string => `Ordered ${amount} ${item}.`;
tools.add(defineTool({ name: "order", description: "Orders an item.", kind: "other", input: items, run: order }));

// Your model. This one returns fixed answers, so the example needs no API key.
type Call = { readonly id: string; readonly name: string; readonly arguments: string };
type Message = { readonly role: "user" | "assistant" | "tool"; readonly text: string; readonly calls?: readonly Call[] };
const answers: readonly Message[] = [
  { role: "assistant", text: "Let me check the stock.", calls: [{ id: "c1", name: "count", arguments: '{"item":"apples"}' }] },
  { role: "assistant", text: "Too few.", calls: [{ id: "c2", name: "order", arguments: '{"item":"apples","amount":5}' }] },
  { role: "assistant", text: "Now for the winter.", calls: [{ id: "c3", name: "order", arguments: '{"item":"apples","amount":500}' }] },
  { role: "assistant", text: "I ordered five. Ordering five hundred needs an approval." },
];
const askModel = (history: readonly Message[]): Message | undefined => answers[history.filter(({ role }) => role === "assistant").length];

// The ledger. In your own program, use one permanent directory.
const directory = mkdtempSync(join(tmpdir(), "assent-example-"));
const ledger = await openLedger({ directory });
const { clock, ids, digest } = createHostPorts({ stateDirectory: directory });
const session = await openSession({ ledger, clock, ids }, { holder: currentHolder("example"), create: { cwd: "/" } });
const { checker } = makeChecker({ label: "user permissions", scope: "user", allow: ["order:amount=?"] });
const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy({ checkers: [checker] }), onAsk: "deny" });

const history: Message[] = [{ role: "user", text: "Are there enough apples?" }];
for (let turn = 0; turn < 20; turn += 1) {
  const answer = askModel(history);
  if (answer === undefined) break;
  history.push(answer);
  if (!answer.calls) break;
  const report = await dispatcher.process({ calls: answer.calls, tools, signal: new AbortController().signal });
  for (const call of report.results) {
    if (call.outcome === "waiting") continue; // only with onAsk: "park"; keep the history and resume later
    history.push({ role: "tool", text: `${call.callId} ${call.outcome}: ${contentText(call.result.content)}` });
  }
}

for (const { role, text } of history) console.log(`${role}: ${text}`);
await session.close("done", 0);
await ledger.close();
rmSync(directory, { recursive: true });

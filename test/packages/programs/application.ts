// The application as it is without Assent: its tools, its model and its way to ask a person.
import { playScript, readScript } from "@assent/agent";
import { createSystemClock } from "@assent/host";
import { tool } from "ai";
import { z } from "zod";

export const sent: string[] = [];
const send = ({ to }: { to: string }) => ({ sent: sent.push(to) });

export const tools = {
  mail: tool({ description: "Sends a mail.", inputSchema: z.object({ to: z.string() }), execute: send }),
};
const parameters = { type: "object" as const, properties: { to: { type: "string" } }, required: ["to"] };
export const openaiTools = [{ type: "function" as const, function: { name: "mail", description: "Sends a mail.", parameters } }];
export const anthropicTools = [{ name: "mail", description: "Sends a mail.", input_schema: parameters }];
export const functions = { mail: { description: "Sends a mail.", input: z.object({ to: z.string() }), run: send } };
export const handlers = { mail: send };

const addresses = ["ann@example.test", "bob@elsewhere.test", "eve@elsewhere.test"];
const script = JSON.stringify({ turns: [{ calls: addresses.map((to) => ({ tool: "mail", input: { to } })) }, { say: "Done." }] });
export const model = playScript(readScript(script, "script.json"), createSystemClock()).model();
export const chatCalls = addresses.map((to, at) => ({
  id: `c${at}`,
  type: "function" as const,
  function: { name: "mail", arguments: JSON.stringify({ to }) },
}));
export const anthropicContent = addresses.map((to, at) => ({ type: "tool_use" as const, id: `c${at}`, name: "mail", input: { to } }));
export const calls = addresses.map((to, at) => ({ id: `c${at}`, name: "mail", arguments: { to } }));

export async function askPerson({ input }: { readonly input: Readonly<Record<string, unknown>> }): Promise<boolean> {
  return input["to"] !== "eve@elsewhere.test";
}

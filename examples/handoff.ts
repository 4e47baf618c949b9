// Hand over to another agent: the tool's body belongs to your program, which switches the prompt and the tools.
import { createGate } from "@assent/gate";
import { z } from "zod";

const agents = { desk: "You greet customers.", billing: "You handle invoices." };
let active: keyof typeof agents = "desk";

const gate = await createGate({
  rules: { allow: ["transfer:to=billing"] },
  handlers: {
    transfer: async (_session, _call, { invocation }) => {
      active = z.enum(["desk", "billing"]).parse(invocation.input["to"]);
      return `The conversation continues with ${active}.`;
    },
  },
});
gate.tool({
  name: "transfer",
  description: "Hands the conversation to another agent.",
  kind: "other",
  input: z.object({ to: z.enum(["desk", "billing"]) }),
  runtimeHandler: "transfer",
});

// The model of the desk calls `transfer`. The handler runs only because a rule allows it, and the record has the call.
const { calls } = await gate.run([{ id: "c1", name: "transfer", arguments: { to: "billing" } }]);
console.log(calls[0]?.content);
console.log(`next request: ${agents[active]}`);
await gate.close();

// A tool or its result chooses the model of the next request.
import { createGate } from "@assent/gate";
import { z } from "zod";

const gate = await createGate();
gate.tool({
  name: "read_contract",
  description: "Reads a contract.",
  kind: "read",
  input: z.object({ name: z.string() }),
  run: ({ name }) => ({ content: `The text of ${name}.`, ...(name.startsWith("secret") && { modelOverride: "local-model" }) }),
});

let model = "cloud-model";
for (const name of ["public.txt", "secret.txt"]) {
  const turn = await gate.run([{ id: name, name: "read_contract", arguments: { name } }]);
  model = turn.model ?? model;
  console.log(`after ${name}: ${model}`);
}
await gate.close();

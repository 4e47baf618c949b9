// Stop a model that repeats itself: the first repetition warns it, the next one ends the run.
import { createGate } from "@assent/gate";
import { z } from "zod";

const gate = await createGate({ loop: { threshold: 3 } });
const input = z.object({ page: z.number() });
gate.functions({ fetch_page: { description: "Fetches a page.", input, run: () => "empty" } }, { fetch_page: { kind: "read" } });

for (let turn = 1; turn <= 5; turn += 1) {
  const { warning, stop } = await gate.run([{ id: `c${turn}`, name: "fetch_page", arguments: { page: 1 } }]);
  console.log(`turn ${turn}: ${stop ? `${stop.reason}: ${stop.message}` : (warning ?? "ok")}`);
  if (stop) break; // otherwise, add `warning` to the next request
}
await gate.close();

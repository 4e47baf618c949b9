// Send events to your own system: a bus, a log, a tracer. A listener that fails changes nothing.
import { EventEmitter } from "node:events";
import { createGate } from "@assent/gate";
import { z } from "zod";

const bus = new EventEmitter();
bus.on("tool", (line: string) => console.log(line));

const gate = await createGate({
  rules: { deny: ["drop:table=users"], allow: ["drop"] },
  observe: (event) => {
    if (event.type === "decided") bus.emit("tool", `${event.toolName}: ${event.decision}, by ${event.rule ?? event.source}`);
  },
});
const off = gate.on("response", ({ tool, outcome }) => bus.emit("tool", `${tool}: ${outcome}`));
gate.functions({ drop: { description: "Drops a table.", input: z.object({ table: z.string() }), run: () => "dropped" } });

await gate.run(["temp", "users"].map((table) => ({ id: table, name: "drop", arguments: { table } })));
off();
await gate.close();

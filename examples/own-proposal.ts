// A tool of yours that proposes a change: people see the exact change before it happens, apply it, and undo it.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGate } from "@assent/gate";
import { z } from "zod";

const cwd = mkdtempSync(join(tmpdir(), "assent-example-"));
const path = join(cwd, "prices.csv");
const gate = await createGate({ cwd, rules: { allow: ["set_price"] } });
gate.tool({
  name: "set_price",
  description: "Sets the price of an item.",
  kind: "edit",
  input: z.object({ item: z.string(), price: z.number() }),
  locations: () => [{ path }],
  alwaysStages: true,
  preview: ({ item, price }) => {
    const before = existsSync(path) ? readFileSync(path) : null;
    const line = `${item},${price}\n`;
    const change = { path, realPath: path, before, after: Buffer.concat([before ?? Buffer.of(), Buffer.from(line)]) };
    return { label: `Price of ${item}`, blocks: [`+${line}`], changes: [change] };
  },
  apply: ({ label }) => `Applied: ${label}.`,
});

const { calls } = await gate.run([{ id: "c1", name: "set_price", arguments: { item: "apples", price: 2 } }]);
console.log(`${calls[0]?.outcome}; file exists: ${existsSync(path)}`);
const proposals = await gate.proposals();
for (const { id, label } of proposals.list()) {
  const applied = await proposals.apply(id, "The price is right.");
  console.log(`${label}: ${applied.state}, ${readFileSync(path, "utf8").trim()}`);
  const undone = await proposals.undo(id);
  console.log(`${undone.state}; file exists: ${existsSync(path)}`);
}
await gate.close();
rmSync(cwd, { recursive: true });

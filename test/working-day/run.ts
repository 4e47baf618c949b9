import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { replayDay } from "./replay-day.ts";

// Replays the working day for three persons, and prints a row of docs/working-day.md.
const { values } = parseArgs({
  options: {
    name: { type: "string", default: "Assent by itself" },
    settings: { type: "string" },
    mode: { type: "string" },
    checkout: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const { name, settings, mode, checkout, json } = values;
const setup = {
  ...(settings !== undefined && { settings: JSON.parse(readFileSync(settings, "utf8")) }),
  ...(mode !== undefined && { args: ["--mode", mode] }),
  ...(checkout !== undefined && { checkout }),
};
const once = await replayDay({ ...setup, person: "once" });
const always = await replayDay({ ...setup, person: "always" });
const wider = await replayDay({ ...setup, person: "wider" });
if (json) process.stdout.write(`${JSON.stringify({ name, once, always, wider })}\n`);
else process.stdout.write(`| ${name} | ${once.calls} | ${once.questions} | ${always.questions} | ${wider.questions} |\n`);
for (const end of new Set(once.others)) process.stderr.write(`not succeeded: ${end}\n`);

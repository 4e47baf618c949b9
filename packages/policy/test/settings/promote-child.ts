import { createHostFiles, createHostProcesses, createSystemClock } from "@assent/host";
import { promoteRule } from "../../src/settings/promote-rule.ts";

/** A process of its own that promotes the rules it is given, one after the other, from the moment it is told to. */
const [file = "", ...rules] = process.argv.slice(2);
const parts = { clock: createSystemClock(), processes: createHostProcesses(), files: createHostFiles({ outputDirectory: "/nowhere" }) };
process.send?.("ready");
await new Promise((resolve) => process.once("message", resolve));
for (const rule of rules) await promoteRule({ file, list: "allow", rule }, parts);
process.disconnect();

import { createSystemClock } from "@assent/host";
import { watchPolicy } from "../../src/settings/watched-policy.ts";
import { PARTS } from "./policy-bench.ts";

/** A process that watches settings and has nothing else to do. */
watchPolicy(JSON.parse(process.argv[2] ?? ""), PARTS, { clock: createSystemClock(), warn: () => undefined, changed: () => undefined });
process.disconnect();

import { openSession } from "@assent/core";
import { createHostPorts } from "@assent/host";
import { openLedger } from "@assent/store";

const [directory = "", id = ""] = process.argv.slice(2);
const { clock, ids } = createHostPorts({ stateDirectory: directory });
const start = performance.now();
const ledger = await openLedger({ directory });
const session = await openSession(
  { ledger, clock, ids },
  { holder: { pid: process.pid, host: "bench", processStart: "1", door: "bench" }, id },
);
const ms = performance.now() - start;
process.send?.({ ms, rssMb: process.memoryUsage().rss / 1e6, calls: session.state.ids.size });
await ledger.close();
process.disconnect();

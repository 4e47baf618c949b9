import { fileURLToPath } from "node:url";
import { type Io, main, type Overrides, processIo } from "assent";
import { CODE_FLAGS } from "../support/code-flags.ts";
import { openFailing } from "./failing-connection.ts";
import { failingDatabase } from "./failing-database.ts";
import { failFiles } from "./failing-files.ts";
import { failingLedger } from "./failing-ledger.ts";
import { type Failpoints, parseFailpoints } from "./failpoints.ts";
import { stagingTools } from "./ten-files.ts";
import { worldTools } from "./world-tools.ts";

/** Arguments for Node that run `assent` with failpoints and tools of the tests. */
export const ENTRY: readonly string[] = [...CODE_FLAGS, fileURLToPath(import.meta.url)];

/** All that the tests put into the program: ports, nothing else. */
export function testOverrides(world: string, failpoints: Failpoints): Overrides {
  return {
    openDatabase: failingDatabase(failpoints),
    openPostgres: (options) => openFailing(options, failpoints),
    ledger: (ledger) => failingLedger(ledger, failpoints),
    tools: [...worldTools(world, failpoints), ...stagingTools(world, failpoints)],
  };
}

if (import.meta.main) {
  const { ASSENT_FAILPOINT, ASSENT_TEST_WORLD = "", ASSENT_TEST_PERSON, ASSENT_TEST_STEPS } = process.env;
  const failpoints = parseFailpoints(ASSENT_FAILPOINT);
  const io = processIo();
  const attended: Io = ASSENT_TEST_PERSON === "1" ? { ...io, stdinIsTTY: true, stderr: { ...io.stderr, isTTY: true } } : io;
  await failFiles(failpoints, ASSENT_TEST_STEPS);
  process.exit(await main(process.argv.slice(2), attended, testOverrides(ASSENT_TEST_WORLD, failpoints)));
}

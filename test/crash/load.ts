import { fileURLToPath } from "node:url";
import { type Approver, LedgerError } from "@assent/core";
import { CODE_FLAGS } from "../support/code-flags.ts";
import { parseFailpoints } from "./failpoints.ts";
import { type BatchSpec, type Library, openLibrary, personNamed, runBatch } from "./library.ts";

/** Arguments for Node that keep a store busy: takes up every open session, then begins so many new ones as the one argument says. */
export const LOAD: readonly string[] = [...CODE_FLAGS, fileURLToPath(import.meta.url)];

const AT_ONCE = 4;
const SPEC: BatchSpec = { allow: ["world", "keyed"], retryIdempotent: true };
const CALLS: BatchSpec["calls"] = [
  { id: "read", name: "look", arguments: {} },
  { id: "allowed", name: "world", arguments: {} },
  { id: "keyed", name: "keyed", arguments: {} },
  { id: "yes", name: "probed", arguments: { note: "yes" } },
  { id: "late", name: "look", arguments: {} },
  { id: "no", name: "probed", arguments: { note: "no" } },
];

/** Says yes or no at once, as the call's own input wants it. */
const PERSON: Approver = {
  available: () => true,
  ask: async ({ id: approval, input }) => ({ approval, outcome: input["note"] === "no" ? "reject" : "approve", by: personNamed("ann") }),
};

async function takeUp(library: Library): Promise<void> {
  const rows = await library.ledger.pending("sessions", { limit: 1_000 });
  const open = rows.filter(({ state }) => state === "interrupted" || state === "parked");
  const taken = await Promise.all(open.map(({ id }) => resumed(library, id)));
  if (taken.includes(true)) await takeUp(library);
}

/** False: another process has it, which will bring it to its end. */
async function resumed(library: Library, session: string): Promise<boolean> {
  try {
    await runBatch(library, { ...SPEC, session }, PERSON);
    return true;
  } catch (error) {
    if (error instanceof LedgerError && error.type === "session_in_use") return false;
    throw error;
  }
}

if (import.meta.main) {
  const { ASSENT_FAILPOINT, ASSENT_STORE: store = "", ASSENT_TEST_WORLD: world = "" } = process.env;
  const library = await openLibrary({ store, world }, parseFailpoints(ASSENT_FAILPOINT));
  await takeUp(library);
  for (let left = Number(process.argv[2] ?? 0); left > 0; left -= AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(left, AT_ONCE) }, () => runBatch(library, { ...SPEC, calls: CALLS }, PERSON)));
  }
  await library.ledger.close();
}

import { fileURLToPath } from "node:url";
import {
  type Answer,
  type Approver,
  answerApproval,
  type BatchReport,
  type By,
  createDispatcher,
  createRegistry,
  createRequestReader,
  type Ledger,
  makeChecker,
  openSession,
  type PolicySource,
  type ProposedCall,
  patternRules,
  type Registry,
} from "@assent/core";
import { ajvSchemas, createHostPorts, currentHolder, type HostPorts } from "@assent/host";
import { openLedger } from "@assent/store";
import { CODE_FLAGS } from "../support/code-flags.ts";
import { openFailing } from "./failing-connection.ts";
import { failingDatabase } from "./failing-database.ts";
import { failingLedger } from "./failing-ledger.ts";
import { type Failpoints, parseFailpoints } from "./failpoints.ts";
import { worldTools } from "./world-tools.ts";

/** Arguments for Node that run one batch as a process of its own; the batch is the one argument, as JSON. */
export const BATCH: readonly string[] = [...CODE_FLAGS, fileURLToPath(import.meta.url)];

/** The parts an embedder puts together, with the same failpoints and tools as the command. */
export type Library = { readonly ledger: Ledger; readonly ports: HostPorts; readonly tools: Registry };

export async function openLibrary({ store, world }: { store: string; world: string }, failpoints?: Failpoints): Promise<Library> {
  const armed = failpoints ?? parseFailpoints(undefined);
  const isRemote = store.startsWith("postgres:");
  const directory = isRemote ? `${world}-local` : store;
  const ports = createHostPorts({ stateDirectory: directory });
  const { startOf } = ports.processes;
  const opened = isRemote
    ? await openFailing({ url: store, directory, startOf }, armed)
    : await openLedger({ directory, startOf, openDatabase: failingDatabase(armed) });
  const tools = createRegistry({ schemas: ajvSchemas() });
  for (const tool of worldTools(world, armed)) tools.add(tool);
  return { ledger: failingLedger(opened, armed), ports, tools };
}

/** Calls of one model turn in a session: a new one, or one that is taken up first. */
export type BatchSpec = {
  readonly session?: string;
  readonly calls?: readonly ProposedCall[];
  readonly allow?: readonly string[];
  readonly mode?: string;
  readonly retryIdempotent?: boolean;
};

export type BatchResult = { readonly session: string; readonly results: BatchReport["results"] };

/** Opens the session, takes up what is open in it, runs the calls and closes it. What asks is parked, unless there is somebody to ask. */
export async function runBatch({ ledger, ports, tools }: Library, spec: BatchSpec, approver?: Approver): Promise<BatchResult> {
  const holder = currentHolder("test");
  const at = spec.session === undefined ? { holder, create: { cwd: "/" } } : { holder, id: spec.session };
  const session = await openSession({ ledger, ...ports }, at);
  const { retryIdempotent = false } = spec;
  const policy = policyOf(spec);
  const dispatcher = createDispatcher({ session, ...ports, policy, onAsk: "park", retryIdempotent, ...(approver && { approver }) });
  const { signal } = new AbortController();
  const resumed = spec.session === undefined ? [] : (await dispatcher.resume({ tools, signal })).results;
  const { results } = await dispatcher.process({ calls: spec.calls ?? [], tools, signal });
  const failure = dispatcher.failure();
  if (failure !== undefined) throw failure;
  const all = [...resumed, ...results];
  const waits = all.some(({ outcome }) => outcome === "waiting");
  await session.close(waits ? "parked" : "done", waits ? 75 : 0);
  return { session: session.id, results: all };
}

function policyOf({ allow = [], mode = "default" }: BatchSpec): PolicySource {
  const { checker } = makeChecker({ label: "test", scope: "session", allow });
  const revision = JSON.stringify([allow, mode]);
  const policy = { revision, mode, checkers: [checker], safeguards: [], honourReadOnlyHint: true };
  return { current: () => policy, subscribe: () => () => undefined };
}

/** Answers an approval as a person in another process would. */
export function answerAs(name: string, { ledger, ports, tools }: Library, answer: Omit<Answer, "by">): ReturnType<typeof answerApproval> {
  const requests = createRequestReader({ ledger, tools, digest: ports.digest });
  return answerApproval({ ledger, ...ports, rules: patternRules, requests }, { ...answer, by: personNamed(name) });
}

export function personNamed(name: string): By {
  return { kind: "person", user: name, name, door: "test", pid: process.pid };
}

if (import.meta.main) {
  const { ASSENT_FAILPOINT, ASSENT_STORE: store = "", ASSENT_TEST_WORLD: world = "" } = process.env;
  const library = await openLibrary({ store, world }, parseFailpoints(ASSENT_FAILPOINT));
  const result = await runBatch(library, JSON.parse(process.argv[2] ?? "{}"));
  await library.ledger.close();
  console.log(JSON.stringify(result));
}

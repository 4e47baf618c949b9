import { join } from "node:path";
import type { TestContext } from "node:test";
import {
  type CallReport,
  createDispatcher,
  createRegistry,
  type Dispatcher,
  memoryLedger,
  openSession,
  type Policy,
  staticPolicy,
} from "@assent/core";
import { createHostFileChanges, createHostPorts, currentHolder } from "@assent/host";
import { builtinTools } from "../src/index.ts";
import { scratch } from "./scratch.ts";

/** The real tools in the real runtime, where everything is allowed. */
export type Governed = {
  readonly root: string;
  readonly dispatcher: Dispatcher;
  readonly call: (name: string, input: object, signal?: AbortSignal) => Promise<CallReport>;
};

/** Makes one; `stages` says which tools' calls wait for `resolve`, `over` changes the policy. */
export async function governed(t: TestContext, stages: readonly string[] = [], over: Partial<Policy> = {}): Promise<Governed> {
  const root = scratch(t);
  const ports = createHostPorts({ stateDirectory: join(root, ".state") });
  const { clock, ids, digest, files, processes } = ports;
  const session = await openSession(
    { ledger: memoryLedger({ clock, ids }), clock, ids },
    { holder: currentHolder("test"), create: { cwd: root } },
  );
  const tools = createRegistry();
  for (const tool of builtinTools({ workspace: root, files, processes, environment: {} })) tools.add(tool);
  const proposals: NonNullable<Policy["proposals"]> = { resolver: "both", stages: ({ tool }) => stages.includes(tool) };
  const policy = staticPolicy({ mode: "yolo", proposals, ...over });
  const dispatcher = createDispatcher({ session, clock, ids, digest, files, processes, policy, changes: createHostFileChanges(), tools });
  t.after(() => session.close("done", 0));
  let calls = 0;
  return {
    root,
    dispatcher,
    call: async (name, input, signal = new AbortController().signal) => {
      const { results } = await dispatcher.process({ calls: [{ id: `c${++calls}`, name, arguments: input }], tools, signal });
      const [report] = results;
      if (!report) throw new Error("a call without a report");
      return report;
    },
  };
}

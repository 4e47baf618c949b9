import { EventEmitter, once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type CallReport,
  contentText,
  createDispatcher,
  createRegistry,
  type DispatchEvent,
  type Dispatcher,
  type Ledger,
  memoryLedger,
  openSession,
  type Policy,
  type PolicySource,
  type ProposedCall,
  type Session,
  staticPolicy,
} from "@assent/core";
import { countingIds, manualClock, scriptedApprover, TESTER } from "@assent/core/testing";
import { ajvSchemas, createHostFileChanges, createHostProcesses, currentHolder, nodeDigest } from "@assent/host";
import { resolveTool } from "../../src/builtin/resolve.ts";
import { type CustomToolOptions, type LoadedTools, loadCustomTools } from "../../src/custom/load-custom-tools.ts";
import type { ApiPorts } from "../../src/custom/thread-services.ts";
import { type Cleaned, scratch } from "../scratch.ts";

/** A line of the modules' log. */
export type Line = Parameters<ApiPorts["log"]>[0];

/** A workspace with folders for tools of both levels, and everything modules say. */
export type Place = {
  readonly root: string;
  readonly user: string;
  readonly project: string;
  readonly lines: Line[];
  readonly clock: ReturnType<typeof manualClock>;
  /** Writes a file below the root, and gives its path. */
  readonly write: (name: string, text: string) => string;
  readonly options: (over?: Over) => CustomToolOptions;
  readonly load: (over?: Over) => Promise<LoadedTools>;
  /** Waits for a line of the modules' log. */
  readonly logged: (message: string) => Promise<void>;
};

export type Over = Partial<Omit<CustomToolOptions, "ports">> & { readonly ports?: Partial<ApiPorts> };

export function place(t: Cleaned): Place {
  const root = scratch(t);
  const user = join(root, "config/tools");
  const project = join(root, ".assent/tools");
  const lines: Line[] = [];
  const listening = new EventEmitter();
  const loaded: LoadedTools[] = [];
  t.after(() => {
    for (const { close } of loaded) close();
  });
  const clock = manualClock();
  const options = ({ ports, ...over }: Over = {}): CustomToolOptions => ({
    folders: [
      { path: user, level: "user" },
      { path: project, level: "project" },
    ],
    trusted: true,
    registryNames: ["read", "write", "edit", "shell"],
    schemas: ajvSchemas(),
    clock,
    ports: {
      cwd: root,
      processes: createHostProcesses({ graceMs: 150, lingerMs: 150 }),
      environment: { PATH: "/usr/bin:/bin", MY_TOKEN: "secret" },
      log: (line) => {
        lines.push(line);
        listening.emit("line");
      },
      staging: true,
      ...ports,
    },
    ...over,
  });
  return {
    root,
    user,
    project,
    lines,
    clock,
    write: (name, text) => {
      const path = join(root, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },
    options,
    load: async (over) => {
      const tools = await loadCustomTools(options(over));
      loaded.push(tools);
      return tools;
    },
    logged: async (message) => {
      while (!lines.some((line) => line.message === message)) await once(listening, "line");
    },
  };
}

/** The text of a module with one tool; `fields` are its fields as they would be written, after the required ones. */
export function toolModule(name: string, fields = "", execute = "return { content: [{ type: 'text', text: 'done' }] };"): string {
  return `export default (api) => ({
    name: ${JSON.stringify(name)}, description: "A tool for tests.", parameters: { type: "object" },
    async execute(toolCallId, params, onUpdate, ctx, signal) { ${execute} },
    ${fields}
  });`;
}

/** Names of tools, and reasons of failures with their types. */
export function summary({ tools, failed }: LoadedTools): { readonly tools: readonly string[]; readonly failed: readonly string[] } {
  return { tools: tools.map(({ tool }) => tool.name), failed: failed.map(({ type, reason }) => `${type}: ${reason}`) };
}

/** A governed session with the loaded tools. */
export type Governed = {
  readonly session: Session;
  readonly dispatcher: Dispatcher;
  readonly ledger: Ledger;
  readonly events: DispatchEvent[];
  readonly warnings: string[];
  readonly process: (...calls: readonly ProposedCall[]) => Promise<readonly CallReport[]>;
  /** One call, and how it ended. */
  readonly call: (name: string, input?: object, signal?: AbortSignal) => Promise<Ended>;
};

export type Ended = { readonly outcome: string; readonly type: string | null; readonly text: string; readonly details: unknown };

export type GovernedOptions = {
  readonly policy?: Partial<Policy>;
  /** A policy that changes, in place of the other. */
  readonly source?: PolicySource;
  readonly staging?: boolean;
  readonly onAsk?: "deny" | "park";
  readonly beside?: Governed;
};

export async function governed({ clock, root }: Place, { tools }: LoadedTools, options: GovernedOptions = {}): Promise<Governed> {
  const { policy = { mode: "yolo" }, source = staticPolicy(policy), staging = true, onAsk = "deny", beside } = options;
  const ids = countingIds(beside ? 1_000 : 0);
  const ledger = beside?.ledger ?? memoryLedger({ clock, ids });
  const registry = createRegistry({ schemas: ajvSchemas() });
  for (const { tool } of [{ tool: resolveTool() }, ...tools]) registry.add(tool);
  const holder = currentHolder("test");
  const session = await openSession(
    { ledger, clock, ids },
    beside ? { holder: { ...holder, pid: holder.pid + 1 }, id: beside.session.id, takeOver: true } : { holder, create: { cwd: root } },
  );
  const events: DispatchEvent[] = [];
  const warnings: string[] = [];
  const dispatcher = createDispatcher({
    session,
    clock,
    ids,
    digest: nodeDigest,
    policy: source,
    approver: Object.assign(scriptedApprover(), { available: () => false }),
    onAsk,
    by: TESTER,
    warn: (message) => void warnings.push(message),
    ...(staging && { changes: createHostFileChanges() }),
  });
  const run = async (calls: readonly ProposedCall[], signal = new AbortController().signal): Promise<readonly CallReport[]> => {
    const batch = { calls, tools: registry, signal };
    return (await dispatcher.process(batch, (event) => events.push(event))).results;
  };
  return {
    session,
    dispatcher,
    ledger,
    events,
    warnings,
    process: (...calls) => run(calls),
    call: async (name, input = {}, signal) => {
      const [report] = await run([{ name, arguments: input }], signal);
      if (!report) throw new Error("no report");
      return ended(report);
    },
  };
}

export function ended(report: CallReport): Ended {
  if (report.outcome === "waiting") return { outcome: "waiting", type: "waiting", text: "", details: undefined };
  const { outcome, type, result } = report;
  return { outcome, type, text: contentText(result.content), details: result.details };
}

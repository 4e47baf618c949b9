import { once } from "node:events";
import { playScript, readScript } from "@assent/agent";
import {
  type Approver,
  createDispatcher,
  createRegistry,
  type Dispatcher,
  type DispatcherDeps,
  defineTool,
  type EventType,
  type Ledger,
  type LedgerEvent,
  makeChecker,
  memoryLedger,
  openSession,
  parseEvent,
  type Registry,
  type Session,
  staticPolicy,
  type Tool,
} from "@assent/core";
import { createHostPorts, currentHolder } from "@assent/host";
import { z } from "zod";

export const PORTS = createHostPorts({ stateDirectory: "/unused" });
export const ANN = { kind: "person", user: "ann", name: "Ann", door: "test", pid: 1 } as const;

/** A session with tools, as somebody who keeps their own loop has it. */
export type Embedded = {
  readonly session: Session;
  readonly dispatcher: Dispatcher;
  readonly tools: Registry;
  readonly events: <T extends EventType>(type: T) => Promise<LedgerEvent<T>[]>;
  /** The bodies that ran, in order: `read a+` when it began, `read a-` when it ended. */
  readonly ran: string[];
};

export type EmbeddedOptions = {
  readonly ledger?: Ledger;
  readonly id?: string;
  readonly deps?: Partial<DispatcherDeps>;
  readonly more?: readonly Tool[];
};

/** Reads are allowed, writes ask, `write forbidden` is denied. */
export async function embed({ ledger = memoryLedger(), id, deps, more = [] }: EmbeddedOptions = {}): Promise<Embedded> {
  const { clock, ids, digest } = PORTS;
  const holder = currentHolder("test");
  const session = await openSession({ ledger, clock, ids }, id === undefined ? { holder, create: { cwd: "/" } } : { holder, id });
  const { checker } = makeChecker({
    label: "user permissions",
    scope: "user",
    allow: ["read", "slow", "picture", "table"],
    deny: ["write:name=forbidden"],
  });
  const dispatcher = createDispatcher({ session, clock, ids, digest, policy: staticPolicy({ checkers: [checker] }), ...deps });
  const ran: string[] = [];
  const tools = createRegistry();
  for (const tool of [...bodies(ran), ...more]) tools.add(tool);
  const events = async <T extends EventType>(type: T): Promise<LedgerEvent<T>[]> => {
    const found: LedgerEvent<T>[] = [];
    for await (const stored of ledger.read({ session: session.id, seq: 0 }, { session: session.id, types: [type] })) {
      const event = parseEvent(stored);
      if (event) found.push(event as LedgerEvent<T>);
    }
    return found;
  };
  return { session, dispatcher, tools, events, ran };
}

const PIXEL = "iVBORw0KGgo=";

function bodies(ran: string[]): readonly Tool[] {
  const input = z.object({ name: z.string() });
  const around = (tool: string) => async (given: { readonly name: string }) => {
    ran.push(`${tool} ${given.name}+`);
    await new Promise((resolve) => setImmediate(resolve));
    ran.push(`${tool} ${given.name}-`);
    if (given.name === "broken") throw new Error("It broke.");
    return `${tool} ${given.name}: done`;
  };
  return [
    defineTool({ name: "read", description: "Reads.", kind: "read", input, run: around("read") }),
    defineTool({ name: "write", description: "Writes.", kind: "execute", input, run: around("write") }),
    defineTool({
      name: "slow",
      description: "Ends when it is told to.",
      kind: "read",
      input,
      run: async ({ name }, { signal }) => {
        ran.push(`slow ${name}+`);
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        return "stopped";
      },
    }),
    defineTool({
      name: "picture",
      description: "Shows.",
      kind: "read",
      input,
      run: ({ name }) => ({
        content: [
          { type: "text", text: name },
          { type: "image", mediaType: "image/png", data: PIXEL },
          { type: "file", mediaType: "application/pdf", data: "JVBERg==", name: "a.pdf" },
          { type: "json", value: { n: 1 } },
        ],
      }),
    }),
  ];
}

/** Answers every approval in this way. */
export function answering(outcome: "approve" | "reject", reason?: string): Approver {
  return {
    available: () => true,
    ask: async ({ id }) => ({ approval: id, outcome, by: ANN, ...(reason !== undefined && { reason }) }),
  };
}

/** A model that plays this script. */
export function scripted(turns: string): ReturnType<ReturnType<typeof playScript>["model"]> {
  return playScript(readScript(`turns:\n${turns}`, "script.yaml"), PORTS.clock).model();
}

/** Resolves once this holds; it is looked at after every event of the session. */
export async function until({ session }: Embedded, holds: () => Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  const heard = new EventTarget();
  const listening = session.listen(() => heard.dispatchEvent(new Event("event")));
  try {
    for (let next = once(heard, "event", { signal }); !(await holds()); next = once(heard, "event", { signal })) await next;
  } finally {
    listening.close();
  }
}

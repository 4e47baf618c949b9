import { type By, canonicalJson, defineTool, isObject, type Ledger, readCallRecord, ToolDefinitionError } from "@assent/core";
import { ajvSchemas, createRandomIds, createSystemClock, currentUser, nodeDigest } from "@assent/host";
import { parkedMessage } from "./adapters/embedding.ts";
import type { Gate } from "./gate.ts";
import { GateUsageError } from "./gate-error.ts";
import { createGateEvents } from "./gate-events.ts";
import { checkGateOptions, type GateOptions } from "./gate-options.ts";
import { type GatePolicy, openGatePolicy } from "./gate-policy.ts";
import { createGateSession, type GateSession, type GateSessionParts } from "./gate-session.ts";
import { createGateTools, type GateTools } from "./gate-tools.ts";
import { createGateTurns, type GateTurns } from "./gate-turns.ts";
import { hostDeps, openStore } from "./host-deps.ts";
import { wrapAgentsTools } from "./wrap/agents.ts";
import { wrapAiSdkTools } from "./wrap/ai-sdk.ts";
import { type ToolHandlers, wrapAnthropicTools, wrapOpenAITools } from "./wrap/declared.ts";
import { wrapFunctions } from "./wrap/functions.ts";
import type { WrapContext } from "./wrap/governed-tool.ts";
import type { ToolTraits } from "./wrap/traits.ts";

const PORTS = { clock: createSystemClock(), ids: createRandomIds(), digest: nodeDigest };

/** Everything a gate is made of. */
type GateParts = {
  readonly id: () => string;
  readonly ledger: () => Promise<Ledger>;
  readonly tools: GateTools;
  readonly policy: GatePolicy;
  readonly session: GateSession;
  readonly turns: GateTurns;
};

/**
 * Sets up Assent in front of the tools of one conversation. Without options the ledger is in memory, tools that only read run, and every
 * other call is denied. Rejects with `GateUsageError`, or with `LedgerError` if the store or session cannot be opened.
 */
export async function createGate(given: GateOptions = {}): Promise<Gate> {
  const options = checkGateOptions(given);
  const warn = (message: string): void => console.warn(`assent: ${message}`);
  const tools = createGateTools(options.schemas ?? ajvSchemas(), () => policy.toolsChanged());
  const policy = openGatePolicy(options, { ...PORTS, tools, warn });
  const events = createGateEvents(options.observe, warn);
  const { store } = options;
  const host = await hostDeps(store === undefined ? undefined : policy.stateDirectory);
  const opened = store === undefined ? undefined : await openStore(store, policy.stateDirectory, host.processes);
  const ledger = once(async () => opened ?? (await import("@assent/core")).memoryLedger(PORTS));
  const id = once(() => options.session ?? PORTS.ids.next("s_"));
  const { approve, handlers } = options;
  const sessionParts: GateSessionParts = {
    ...{ id, options, ledger, policy, tools, host, person: personNamed },
    deps: {
      ...PORTS,
      ...(handlers && { handlers }),
      decided: (notice) => events.emit({ type: "decided", ...notice }),
      isObserved: events.isHeard,
      warn,
    },
  };
  const session = createGateSession(sessionParts, async (running) => {
    const { openForCalls } = await import("./open-session.ts"); // a gate that has not run a call needs no dispatcher
    return await openForCalls(sessionParts, running);
  });
  const turns = createGateTurns({ session, tools, policy, events }, options.loop);
  if (options.session !== undefined)
    await session.current().catch(async (error: unknown) => {
      await session.close();
      throw error;
    });
  const parts: GateParts = { id, ledger, tools, policy, session, turns };
  return {
    ...wrappers(parts, approve === "park"),
    ...controls(parts),
    get session() {
      return id();
    },
    on: events.on,
    close: session.close,
  };
}

/** Makes something when it is first needed: a gate that is only set up loads neither a ledger nor random numbers nor digests. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function personNamed(name?: string): By {
  if (name === "") throw new GateUsageError("bad_answer", "The name of the person must not be empty.");
  const { user } = currentUser();
  return { kind: "person", user, name: name ?? user, door: "gate", pid: process.pid };
}

function wrappers(parts: GateParts, parks: boolean): Pick<Gate, "tool" | "aiSdk" | "openai" | "anthropic" | "agents" | "functions"> {
  const { id, ledger, tools, session, turns } = parts;
  const context: WrapContext = {
    turns,
    put: tools.put,
    parks,
    judge: async (name, input) => {
      try {
        const { assessCall } = await import("./explain-call.ts");
        return (await assessCall({ ...PORTS, ...parts }, { name, arguments: input })).decision.verdict;
      } catch {
        return undefined; // invalid: running it tells the model why
      }
    },
    knows: async ({ id: callId, name, arguments: given }) => {
      if ((await session.current()).session.state.calls.has(callId)) return true; // it has not ended
      const { "call.proposed": proposed } = await readCallRecord(await ledger(), id(), callId);
      return proposed?.tool === name && canonicalJson(readArguments(proposed.raw)) === canonicalJson(readArguments(given));
    },
  };
  return {
    tool: (definition) => {
      try {
        const tool = defineTool(definition);
        tools.put([tool]);
        return tool;
      } catch (error) {
        if (error instanceof ToolDefinitionError) throw new GateUsageError("bad_tool", error.message, { cause: error });
        throw error;
      }
    },
    aiSdk: (set, traits, toolApproval) => wrapAiSdkTools(context, set, traits, toolApproval),
    // One implementation for both forms of a list; the list decides the type of the result.
    openai: ((...given: WrapList) => wrapOpenAITools(context, ...given)) as Gate["openai"],
    anthropic: (list, handlers, traits) => wrapAnthropicTools(context, list, handlers, traits),
    agents: (list, traits) => wrapAgentsTools(context, list, traits),
    functions: (functions, traits) => wrapFunctions(context, functions, traits),
  };
}

/** Arguments come as text or as a value. Text that is not JSON stays text. */
function readArguments(given: unknown): unknown {
  try {
    return typeof given === "string" ? JSON.parse(given) : given;
  } catch {
    return given;
  }
}

type WrapList = [tools: readonly unknown[], handlers: ToolHandlers, traits?: Readonly<Record<string, ToolTraits | undefined>>];

function isListOfObjects(given: unknown): boolean {
  try {
    return Array.isArray(given) && !given.includes(undefined) && given.every(isObject); // `every` skips holes
  } catch {
    return false; // a revoked proxy
  }
}

type Controls = "run" | "resume" | "resumeMessages" | "stopped" | "approvals" | "answer" | "proposals" | "explain";

function controls(parts: GateParts): Pick<Gate, Controls> {
  const { id, ledger, tools, policy, session, turns } = parts;
  const approvals = once(async () => {
    const { gateApprovals } = await import("./gate-approvals.ts");
    return gateApprovals({ ...PORTS, ledger: await ledger(), tools, policy }, personNamed);
  });
  return {
    run: (calls, turn = {}) => {
      if (isListOfObjects(calls)) return turns.dispatch(calls, turn);
      const text = 'gate.run takes a list of calls, such as [{ id: "1", name: "mail", arguments: { … } }].';
      return Promise.reject(new GateUsageError("bad_call", text));
    },
    resume: async (earlier, signal) => turns.resume(earlier ?? (await turns.openCalls()), signal),
    resumeMessages: async (messages, options = {}) => {
      if (!isListOfObjects(messages)) throw new GateUsageError("bad_call", "gate.resumeMessages takes a list of messages of the AI SDK.");
      const { answeredBy, ...others } = options;
      if (Object.keys(others).length > 0 || !(answeredBy === undefined || typeof answeredBy === "string"))
        throw new GateUsageError("bad_call", 'The options of resumeMessages are { answeredBy: "the name of the person" }.');
      const by = answeredBy === undefined ? undefined : (): By => personNamed(answeredBy);
      const { messages: reconciled, open, rejected } = await (await approvals()).reconcile(messages, { session: id(), by });
      if (rejected) await turns.resume([]); // ends the rejected calls in the record
      turns.setStop(open.length === 0 ? undefined : { reason: "parked", message: parkedMessage(open) });
      return reconciled;
    },
    stopped: turns.stopped,
    approvals: async () => {
      session.checkOpen();
      return await (await approvals()).list();
    },
    answer: async (approval, answer) => {
      session.checkOpen();
      return await (await approvals()).answer(approval, answer);
    },
    proposals: async () => {
      const { proposals } = (await session.current()).dispatcher;
      return {
        list: proposals.list,
        apply: (proposal, reason) => proposals.apply(proposal, personNamed(), reason),
        discard: (proposal, reason) => proposals.discard(proposal, personNamed(), reason),
        undo: (proposal, reason) => proposals.undo(proposal, personNamed(), reason),
      };
    },
    explain: async (call) => (await import("./explain-call.ts")).explainCall({ ...PORTS, ...parts }, call),
  };
}

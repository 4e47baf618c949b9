// Assent: `core`, the dispatcher alone; `agent`, the conversation with a scripted model. Each on the memory ledger or on SQLite.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConversation, playScript, readHistory } from "@assent/agent";
import { answerApproval, createDispatcher, createRegistry, defineTool, staticPolicy, memoryLedger, openSession, patternRules, createRequestReader } from "@assent/core";
import { createHostPorts, currentHolder } from "@assent/host";
import { openLedger } from "@assent/store";
import { z } from "zod";
import { argumentsOf, DESCRIPTION, echo, inputOf, LAST_WORDS, must, plan, PROMPT, SYSTEM, TOOL } from "../world.mjs";

const input = z.object({ path: z.string(), text: z.string(), limit: z.number().int() });
const { clock, ids, digest } = createHostPorts({ stateDirectory: "/nonexistent" });
const holder = currentHolder("bench");
const by = { kind: "person", user: "ann", name: "Ann", door: "bench", pid: process.pid };
const signal = new AbortController().signal;

/** `read` is safe and runs at once; `unsafe` is allowed by its own permission; `asking` is neither, so a person is asked. */
function registry(kind) {
  const tools = createRegistry();
  const permission = kind === "unsafe" ? { permission: () => "allow" } : {};
  tools.add(defineTool({ name: TOOL, description: DESCRIPTION, kind: kind === "read" ? "read" : "other", input, run: echo, ...permission }));
  return tools;
}

const approver = { available: () => true, ask: async ({ id }) => ({ approval: id, outcome: "approve", by }) };

/** The dispatcher of a session. */
function dispatcherOf(session, { callback, park } = {}) {
  return createDispatcher({
    ...{ session, clock, ids, digest, policy: staticPolicy() },
    ...(callback && { approver }),
    ...(park && { onAsk: "park" }),
  });
}

/** A loop without a model: what is measured is the dispatcher. */
async function dispatchAll(session, tools, { answer, ...options }) {
  const dispatcher = dispatcherOf(session, options);
  for (let turn = 0; ; turn += 1) {
    const calls = answer(turn).map((n) => ({ id: `c${n}`, name: TOOL, arguments: argumentsOf(n) }));
    if (calls.length === 0) return;
    const { results } = await dispatcher.process({ calls, tools, signal });
    must(results.length === calls.length && results.every(({ outcome }) => outcome === "succeeded"), "a call did not succeed");
  }
}

const scripts = new Map();

/** Written down once per plan, as a script is. */
function scriptOf(key, answer) {
  const known = scripts.get(key);
  if (known) return known;
  const turns = [];
  for (let turn = 0; answer(turn).length > 0; turn += 1)
    turns.push({ calls: answer(turn).map((n) => ({ tool: TOOL, id: `c${n}`, input: inputOf(n) })) });
  const script = { turns: [...turns, { say: LAST_WORDS }] };
  scripts.set(key, script);
  return script;
}

function conversationOf({ session, dispatcher, tools, player, park }, messages) {
  return createConversation(
    {
      ...{ session, dispatcher, clock, ids, tools: () => tools, model: () => player.model(), system: () => SYSTEM },
      ...{ steering: () => "none", contextSize: () => Number.MAX_SAFE_INTEGER },
      ...(park && { onAsk: "park" }),
    },
    messages,
  );
}

async function converse(session, tools, { answer, key, ...options }) {
  const player = playScript(scriptOf(key, answer), clock);
  const conversation = conversationOf({ session, dispatcher: dispatcherOf(session, options), tools, player });
  const { reason, text } = await conversation.send(PROMPT, signal);
  must(reason === "done" && text === LAST_WORDS, `the run ended as ${reason}`);
}

/** `variant` is a layer (core, agent), a ledger (memory, sqlite) and the kind of the tool (read, unsafe). */
export async function open(variant) {
  const [layer, store, kind] = variant.split("-");
  const directory = store === "sqlite" ? mkdtempSync(join(tmpdir(), "bench-peers-")) : undefined;
  const shared = directory && (await openLedger({ directory }));
  const ledgerFor = () => shared ?? memoryLedger();
  const go = layer === "core" ? dispatchAll : converse;
  const run = async (tools, options) => {
    const session = await openSession({ ledger: ledgerFor(), clock, ids }, { holder, create: { cwd: "/" } });
    await go(session, tools, options);
    await session.close("done", 0);
  };
  const plain = registry(kind);
  const asking = registry("asking");
  return {
    turns: (n) => run(plain, { answer: plan({ turns: n }), key: `t${n}` }),
    batch: (n) => run(plain, { answer: plan({ batch: n }), key: `b${n}` }),
    approval: (n) => run(asking, { answer: plan({ turns: n }), key: `t${n}`, callback: true }),
    cycle: async () => {
      const parked = await park({ layer, ledger: ledgerFor(), tools: asking });
      await answer(parked.ledger, asking);
      await resume(parked);
    },
    /** One approved call, and a way to resume it again and again. */
    approved: async () => {
      const parked = await park({ layer, ledger: ledgerFor(), tools: asking });
      await answer(parked.ledger, asking);
      return { resume: () => resume(parked) };
    },
    close: async () => {
      await shared?.close();
      if (directory) rmSync(directory, { recursive: true });
    },
  };
}

const one = { answer: plan({ turns: 1 }), key: "t1" };

/** Lets one call wait in the ledger and closes the session, as a process does that ends here. */
async function park({ layer, ledger, tools }) {
  const session = await openSession({ ledger, clock, ids }, { holder, create: { cwd: "/" } });
  const dispatcher = dispatcherOf(session, { park: true });
  if (layer === "core") {
    const { results } = await dispatcher.process({ calls: [{ id: "c0", name: TOOL, arguments: argumentsOf(0) }], tools, signal });
    must(results[0]?.outcome === "waiting", "the call does not wait");
  } else {
    const player = playScript(scriptOf(one.key, one.answer), clock);
    const { reason } = await conversationOf({ session, dispatcher, tools, player, park: true }).send(PROMPT, signal);
    must(reason === "parked", `the run ended as ${reason}`);
  }
  await session.close("parked", 75);
  return { layer, ledger, tools, id: session.id };
}

/** What `assent approve` does: only the ledger is needed. */
async function answer(ledger, tools) {
  const ports = { ledger, clock, ids, rules: patternRules, requests: createRequestReader({ ledger, tools, digest }) };
  const [row] = await ledger.pending("approvals");
  const { outcome } = await answerApproval(ports, { approval: row.id, outcome: "approve", by });
  must(outcome === "approved", `the answer is ${outcome}`);
}

/** Opens the session again from the ledger alone and lets it go on to its end. */
async function resume({ layer, ledger, tools, id }) {
  const session = await openSession({ ledger, clock, ids }, { holder, id });
  try {
    const dispatcher = dispatcherOf(session, { park: true });
    await dispatcher.resume({ tools, signal });
    if (layer === "agent") {
      const { messages, providerId } = await readHistory(ledger, id);
      const player = playScript(scriptOf(one.key, one.answer), clock);
      player.resumeAfter(providerId);
      if (messages.at(-1)?.role === "tool") await conversationOf({ session, dispatcher, tools, player, park: true }, messages).goOn(signal);
    }
  } finally {
    await session.close("done", 0);
  }
}

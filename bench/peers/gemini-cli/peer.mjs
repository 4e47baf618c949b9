// `@google/gemini-cli-core`: its Scheduler with its PolicyEngine and message bus, and a real Config that was not initialised (no network, no discovery).
// There is no model in it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const home = mkdtempSync(join(tmpdir(), "bench-home-"));
process.env.HOME = home; // it looks for settings there
console.debug = console.log = () => {}; // it tells every step of its policy; the command line tool silences that too
const { BaseDeclarativeTool, BaseToolInvocation, Config, Kind, MessageBus, MessageBusType, PolicyDecision, PolicyEngine, Scheduler, ToolConfirmationOutcome, ToolRegistry } =
  await import("@google/gemini-cli-core");
const { argumentsOf, DESCRIPTION, echo, JSON_SCHEMA, must, plan, TOOL } = await import("../world.mjs");

class EchoInvocation extends BaseToolInvocation {
  getDescription() {
    return DESCRIPTION;
  }
  async execute() {
    const text = echo(this.params);
    return { llmContent: text, returnDisplay: text };
  }
}

class EchoTool extends BaseDeclarativeTool {
  constructor(messageBus) {
    super(TOOL, TOOL, DESCRIPTION, Kind.Read, JSON_SCHEMA, messageBus);
  }
  createInvocation(params, messageBus, name, displayName) {
    return new EchoInvocation(params, messageBus, name, displayName);
  }
}

function makeContext(decision) {
  const rules = [{ toolName: TOOL, decision }];
  const config = new Config({
    ...{ sessionId: "bench", targetDir: "/", cwd: "/", debugMode: false, model: "scripted", usageStatisticsEnabled: false },
    ...{ telemetry: { enabled: false }, interactive: true, policyEngineConfig: { rules } },
  });
  const messageBus = config.messageBus ?? new MessageBus(new PolicyEngine({ rules }));
  const toolRegistry = new ToolRegistry(config, messageBus);
  toolRegistry.registerTool(new EchoTool(messageBus));
  return { config, promptId: "p", toolRegistry, messageBus };
}

/** A person who says yes to everything that waits, once. */
function approveAll(messageBus) {
  const answered = new Set();
  messageBus.subscribe(MessageBusType.TOOL_CALLS_UPDATE, ({ toolCalls }) => {
    for (const { status, correlationId } of toolCalls) {
      if (status !== "awaiting_approval" || answered.has(correlationId)) continue;
      answered.add(correlationId);
      const outcome = ToolConfirmationOutcome.ProceedOnce;
      queueMicrotask(() => void messageBus.publish({ type: MessageBusType.TOOL_CONFIRMATION_RESPONSE, correlationId, confirmed: true, outcome }));
    }
  });
}

const signal = new AbortController().signal;
let schedulers = 0;

async function run(context, answer) {
  const scheduler = new Scheduler({ context, getPreferredEditor: () => undefined, schedulerId: `s${++schedulers}` });
  for (let turn = 0; ; turn += 1) {
    const requests = answer(turn).map((n) => ({ callId: `c${n}`, name: TOOL, args: JSON.parse(argumentsOf(n)), isClientInitiated: false, prompt_id: "p" }));
    if (requests.length === 0) break;
    const calls = await scheduler.schedule(requests, signal);
    must(calls.length === requests.length && calls.every(({ status }) => status === "success"), `a call ended as ${calls[0]?.status} ${calls[0]?.response?.error ?? ""}`);
  }
  scheduler.dispose();
}

export function open() {
  const plain = makeContext(PolicyDecision.ALLOW);
  const asking = makeContext(PolicyDecision.ASK_USER);
  approveAll(asking.messageBus);
  return {
    turns: (n) => run(plain, plan({ turns: n })),
    batch: (n) => run(plain, plan({ batch: n })),
    approval: (n) => run(asking, plan({ turns: n })),
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

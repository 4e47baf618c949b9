// `@qwen-code/qwen-code-core`: CoreToolScheduler alone, with a real Config that was not initialised (no network, no discovery). There is no model in it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const home = mkdtempSync(join(tmpdir(), "bench-home-"));
process.env.HOME = home; // it looks for settings there
const { BaseDeclarativeTool, BaseToolInvocation, Config, CoreToolScheduler, Kind, ToolConfirmationOutcome, ToolRegistry } = await import("@qwen-code/qwen-code-core");
const { argumentsOf, DESCRIPTION, echo, JSON_SCHEMA, must, plan, TOOL } = await import("../world.mjs");

class EchoInvocation extends BaseToolInvocation {
  constructor(params, asks) {
    super(params);
    this.asks = asks;
  }
  getDescription() {
    return DESCRIPTION;
  }
  async shouldConfirmExecute() {
    if (!this.asks) return false;
    return { type: "info", title: TOOL, prompt: this.params.path, onConfirm: async () => {} };
  }
  async execute() {
    const text = echo(this.params);
    return { llmContent: text, returnDisplay: text };
  }
}

class EchoTool extends BaseDeclarativeTool {
  constructor(asks) {
    super(TOOL, TOOL, DESCRIPTION, asks ? Kind.Edit : Kind.Read, JSON_SCHEMA);
    this.asks = asks;
  }
  createInvocation(params) {
    return new EchoInvocation(params, this.asks);
  }
}

function makeConfig(asks) {
  const params = { sessionId: "bench", targetDir: "/", cwd: "/", debugMode: false, model: "scripted", usageStatisticsEnabled: false };
  const config = new Config({ ...params, telemetry: { enabled: false }, interactive: true });
  config.toolRegistry = new ToolRegistry(config);
  config.toolRegistry.registerTool(new EchoTool(asks));
  return config;
}

const signal = new AbortController().signal;

async function run(config, answer, { asks } = {}) {
  let complete;
  const scheduler = new CoreToolScheduler({
    config,
    getPreferredEditor: () => undefined,
    onEditorClose: () => {},
    onAllToolCallsComplete: async (calls) => complete(calls),
    onToolCallsUpdate: (calls) => {
      if (!asks) return;
      for (const call of calls)
        if (call.status === "awaiting_approval" && !call.answered) {
          call.answered = true;
          void call.confirmationDetails.onConfirm(ToolConfirmationOutcome.ProceedOnce);
        }
    },
  });
  for (let turn = 0; ; turn += 1) {
    const requests = answer(turn).map((n) => ({ callId: `c${n}`, name: TOOL, args: JSON.parse(argumentsOf(n)), isClientInitiated: false, prompt_id: "p" }));
    if (requests.length === 0) return;
    const done = new Promise((resolve) => {
      complete = resolve;
    });
    await scheduler.schedule(requests, signal);
    const calls = await done;
    must(calls.length === requests.length && calls.every(({ status }) => status === "success"), `a call ended as ${calls[0]?.status}`);
  }
}

export function open() {
  const plain = makeConfig(false);
  const asking = makeConfig(true);
  return {
    turns: (n) => run(plain, plan({ turns: n })),
    batch: (n) => run(plain, plan({ batch: n })),
    approval: (n) => run(asking, plan({ turns: n }), { asks: true }),
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

// Stands in for `assent run`: plays the steps of the variable DOOR, one after another, and speaks the protocol as it is told.
import { closeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const steps = JSON.parse(process.env.DOOR ?? "[]");
const received = [];
const waiting = [];
let ended = false;
let last;

const input = createInterface({ input: process.stdin });
input.on("line", (line) => {
  received.push(JSON.parse(line));
  wake();
});
input.on("close", () => {
  ended = true;
  wake();
});

function wake() {
  for (const resolve of waiting.splice(0)) resolve();
}

async function heard(fits) {
  for (;;) {
    const at = received.findIndex(fits);
    if (at !== -1) return received.splice(at, 1)[0];
    await new Promise((resolve) => waiting.push(resolve));
  }
}

function put(text) {
  return new Promise((resolve) => process.stdout.write(text, resolve));
}

const line = (value) => put(`${JSON.stringify(value)}\n`);
const common = { uuid: "u", session_id: "s", parent_tool_use_id: null };
const result = { type: "result", subtype: "success", is_error: false, exit_code: 0, result: "", duration_ms: 1 };

const actions = {
  /** Waits for a request of this subtype and gives this response. */
  respond: async ([subtype, response]) => {
    last = await heard((each) => each.request?.subtype === subtype);
    await line({ type: "control_response", response: { subtype: "success", request_id: last.request_id, response } });
  },
  refuse: async ([subtype, error_type]) => {
    last = await heard((each) => each.request?.subtype === subtype);
    await line({ type: "control_response", response: { subtype: "error", request_id: last.request_id, error: "no", error_type } });
  },
  ask: ([request_id, request]) => line({ type: "control_request", request_id, request }),
  withdraw: (request_id) => line({ type: "control_cancel_request", request_id }),
  user: async () => {
    last = await heard((each) => each.type === "user");
  },
  answer: async (request_id) => {
    last = await heard((each) => each.response?.request_id === request_id);
  },
  /** Says what was heard last. */
  echo: () => line({ type: "system", subtype: "warning", ...common, code: "echo", message: JSON.stringify(last) }),
  /** Says what was heard and waited for by nobody. */
  heard: () => line({ type: "system", subtype: "warning", ...common, code: "heard", message: JSON.stringify(received) }),
  say: (message) => line({ ...common, ...message }),
  result: (fields) => line({ ...common, ...result, ...fields }),
  raw: (text) => put(text),
  complain: (text) => new Promise((resolve) => process.stderr.write(text, resolve)),
  /** Says so many lines, then how many it said. */
  flood: async ([count, size]) => {
    for (let at = 0; at < count; at++) {
      await line({ ...common, type: "assistant", message: { content: [{ type: "text", text: "x".repeat(size) }] } });
      process.stderr.write(`${at + 1}\n`);
    }
  },
  arguments: () =>
    line({ type: "system", subtype: "warning", ...common, code: "arguments", message: JSON.stringify(process.argv.slice(2)) }),
  variable: (name) => line({ type: "system", subtype: "warning", ...common, code: name, message: `${process.env[name]}` }),
  parrot: () => void process.stdin.pipe(process.stdout),
  deaf: () => {
    input.close();
    process.stdin.destroy();
    closeSync(0);
  },
  stubborn: () => process.on("SIGTERM", () => undefined),
  /** Leaves a process behind that holds the pipes. */
  leave: async () => {
    const { spawn } = await import("node:child_process");
    const { pid } = spawn(process.execPath, ["-e", "setTimeout(() => undefined, 60_000)"], { stdio: "inherit", detached: true });
    await line({ type: "system", subtype: "warning", ...common, code: "pid", message: String(pid) });
  },
  end: async () => {
    while (!ended) await new Promise((resolve) => waiting.push(resolve));
  },
  forever: () => sleep(60_000),
  kill: (signal) => process.kill(process.pid, signal) && sleep(60_000),
  exit: (code) => process.exit(code),
};

for (const step of steps) {
  const [[name, value]] = Object.entries(step);
  await actions[name](value);
}
process.exit(0);

import { type HookSetup, wrapperArguments } from "./wrapper.ts";

export const PLUGIN_NAME = "assent.js";

const ARGUMENTS = /(?<=await run\()\[(?:"(?:[^"\\\n]|\\.)*",?)*\]/g;

/** Whether this is the plugin that Assent writes, with any options. */
export function isOwnPlugin(text: string, wrapper: string): boolean {
  const ours = opencodePlugin({ wrapper, options: [], decideOptions: [], timeoutSeconds: 0, besideDialog: false });
  return text.replaceAll(ARGUMENTS, "[]") === ours.replaceAll(ARGUMENTS, "[]");
}

/** A plugin file for opencode that starts the wrapper before and after every call. A call whose hook does not end with 0 is not run. */
export function opencodePlugin(setup: HookSetup): string {
  const args = (use: "decide" | "report"): string => JSON.stringify(wrapperArguments(setup, "opencode", use));
  return `// Written by assent hook install opencode.
import { spawn } from "node:child_process";

const WRAPPER = ${JSON.stringify(setup.wrapper)};

function run(args, event) {
  return new Promise((resolve) => {
    const child = spawn(WRAPPER, args, { stdio: ["pipe", "ignore", "pipe"] });
    let errors = "";
    child.stderr.on("data", (chunk) => (errors += chunk));
    child.on("error", (error) => resolve({ code: 2, errors: String(error) }));
    child.on("close", (code) => resolve({ code, errors }));
    child.stdin.on("error", () => undefined);
    child.stdin.end(JSON.stringify(event));
  });
}

export const AssentGuard = async ({ directory }) => ({
  "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
    const event = { event: "tool.execute.before", session: sessionID, cwd: directory, tool, args, call: callID };
    const { code, errors } = await run(${args("decide")}, event);
    if (code !== 0) throw new Error(errors.trim() || "Assent denied this call.");
  },
  "tool.execute.after": async ({ tool, sessionID, callID, args }, { output }) => {
    await run(${args("report")}, { event: "tool.execute.after", session: sessionID, cwd: directory, tool, args, call: callID, output });
  },
  event: async ({ event }) => {
    if (event.type !== "session.deleted") return;
    await run(${args("report")}, { event: "session.deleted", session: event.properties.info.id, cwd: directory });
  },
});
`;
}

import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Content, Display, Tool, ToolResult } from "@assent/core";
import { validateBuildAndExecute } from "@assent/core/ungoverned";
import { hostFiles, hostProcesses, sessionOutput } from "@assent/host";
import { builtinTools } from "../src/index.ts";
import { scratch } from "./scratch.ts";

/** A session in a workspace of its own, with real files and processes. */
export type Session = {
  readonly root: string;
  readonly workspace: string;
  readonly output: string;
  readonly tool: (name: string) => Tool;
  readonly call: (
    name: string,
    input: object,
    options?: { cwd?: string; signal?: AbortSignal; update?: (display: Display) => void; sessionId?: string },
  ) => Promise<ToolResult>;
};

/** Makes one; `environment` is what commands start from. */
export function session(t: TestContext, environment: Record<string, string> = { PATH: "/usr/bin:/bin" }): Session {
  const root = scratch(t);
  const workspace = root;
  const outputDirectory = join(root, ".state/output");
  const output = sessionOutput(outputDirectory, "s_1");
  const files = hostFiles({ outputDirectory });
  const processes = hostProcesses({ graceMs: 150, lingerMs: 150 });
  const tools = builtinTools({ workspace, readable: [output], files, processes, environment });
  const tool = (name: string): Tool => {
    const found = tools.find((candidate) => candidate.name === name);
    if (!found) throw new Error(`no tool ${name}`);
    return found;
  };
  return {
    root,
    workspace,
    output,
    tool,
    call: (name, input, { cwd = workspace, signal = new AbortController().signal, update, sessionId = "s_1" } = {}) =>
      validateBuildAndExecute(tool(name), input, signal, update, { cwd, callId: "c1", sessionId }),
  };
}

/** The text of a result, or its parts by type. */
export function shown(content: Content): string {
  return typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("");
}

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { createRegistry, defineTool, type JsonObject, type Tool } from "@assent/core";
import { type Assessment, assessRequest } from "@assent/core/parts";
import { manualClock } from "@assent/core/testing";
import { nodeDigest } from "@assent/host";
import { z } from "zod";
import type { SessionFlags } from "../src/settings/locations.ts";
import { createWorkspacePolicy, type ToolRules, type WorkspacePolicy, type WorkspacePolicyOptions } from "../src/workspace-policy.ts";
import { scratch } from "./scratch.ts";

const run = (): string => "";
const located = { locations: ({ file_path }: { file_path: string }) => [{ path: file_path }], run };
const file = { input: z.strictObject({ file_path: z.string() }), ...located };
const text = { input: z.strictObject({ file_path: z.string(), content: z.string() }), ...located };

/** One tool of each kind that rules know. */
export const TOOLS: readonly Tool[] = [
  defineTool({ name: "shell", description: "x", kind: "execute", input: z.strictObject({ command: z.string() }), run }),
  defineTool({ name: "read", description: "x", kind: "read", ...file }),
  defineTool({ name: "write", description: "x", kind: "edit", ...text }),
  defineTool({ name: "delete", description: "x", kind: "delete", ...file }),
  defineTool({ name: "fetch", description: "x", kind: "fetch", input: z.strictObject({ url: z.string() }), run }),
  defineTool({ name: "deploy", description: "x", kind: "other", input: z.looseObject({}), inputAliases: { to: "target" }, run }),
];

/** A workspace `w` and a home `h` in a directory, what its policy says of calls, and what tools are told by its rules. */
export type Bench = WorkspacePolicy & {
  readonly root: string;
  readonly workspace: string;
  readonly told: ToolRules;
  readonly assess: (tool: string, input: JsonObject) => Promise<Assessment>;
  /** The verdict, who gave it, and by which rule. */
  readonly judge: (tool: string, input: JsonObject) => Promise<string>;
};

/** What a test may say beside the user's settings. */
export type Around = Partial<WorkspacePolicyOptions> & { readonly flags?: Partial<SessionFlags>; readonly files?: readonly string[] };

/** Puts the policy of a workspace together, with these settings of its user. */
export function bench(t: TestContext, settings: object = {}, { flags, files = [], ...parts }: Around = {}): Bench {
  const root = scratch(t);
  const [workspace, home, userFile] = [join(root, "w"), join(root, "h"), join(root, "h/.config/assent/settings.json")];
  for (const path of [userFile, ...files.map((name) => join(workspace, name))]) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, path === userFile ? JSON.stringify(settings) : "", { mode: 0o600 });
  }
  mkdirSync(workspace, { recursive: true });
  let told: ToolRules = { privateAllowed: () => false, hides: () => false };
  const session = { allow: [], ask: [], deny: [], ...flags };
  const policy = createWorkspacePolicy({
    places: { workspace, home, userFile, teamFile: join(root, "none"), session, trusted: false },
    stateDirectory: join(home, "state/assent"),
    digest: nodeDigest,
    tools: (_look, _settings, rules) => {
      told = rules;
      const registry = createRegistry();
      for (const tool of TOOLS) registry.add(tool);
      return registry;
    },
    ...parts,
  });
  t.after(policy.source.close);
  const assess = async (name: string, input: JsonObject): Promise<Assessment> => {
    const tool = policy.tools.get(name);
    const invocation = await tool?.build(input, { cwd: workspace, callId: "c", sessionId: "s" });
    if (!tool || !invocation) throw new Error(`there is no tool ${name}, or it does not take this`);
    const { facts, source } = policy;
    return await assessRequest({
      tool,
      invocation,
      cwd: workspace,
      facts,
      policy: source.current,
      digest: nodeDigest,
      clock: manualClock(),
    });
  };
  const judge = async (name: string, input: JsonObject): Promise<string> => {
    const { verdict, reason, rule } = (await assess(name, input)).decision;
    return [verdict, reason, ...(rule ? [rule.text] : [])].join(" ");
  };
  return { ...policy, root, workspace, told, assess, judge };
}

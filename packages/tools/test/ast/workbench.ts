import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { Invocation, JsonObject, Preview, RunContext, Tool, ToolResult } from "@assent/core";
import { createPathLookup } from "@assent/policy";
import { astEditTool } from "../../src/builtin/ast-edit.ts";
import { astGrepTool } from "../../src/builtin/ast-grep.ts";
import { memoryReads } from "../../src/files/reads.ts";
import { scratch } from "../scratch.ts";

/** Contents by path. */
export type Files = Readonly<Record<string, string | Buffer>>;

/** A workspace with files, and the two tools in it. */
export type Workbench = {
  readonly root: string;
  readonly edit: Tool;
  readonly grep: Tool;
  /** What `ast_edit` would do; judged first, as the runtime does. */
  readonly preview: (input: object, options?: Partial<RunContext>) => Promise<Preview | ToolResult>;
  readonly search: (input: object, options?: Partial<RunContext>) => Promise<ToolResult>;
  readonly read: (path: string) => string;
};

/** Makes one. */
export function workbench(t: TestContext, files: Files, limits: { maxFiles?: number; maxChanges?: number } = {}): Workbench {
  const root = scratch(t);
  plant(root, files);
  const deps = {
    workspace: root,
    scope: createPathLookup({ workspace: root }),
    reads: memoryReads(),
    maxFiles: () => limits.maxFiles ?? 10_000,
  };
  const edit = astEditTool({ ...deps, maxChanges: () => limits.maxChanges ?? 50_000 });
  const grep = astGrepTool(deps);
  return {
    root,
    edit,
    grep,
    preview: async (input, options) => {
      const ctx = context(root, options);
      const { input: frozen } = await judged(edit, input, ctx);
      const made = await edit.definition.preview?.(frozen, ctx);
      if (made === undefined || typeof made === "string") throw new Error("a preview is data");
      return made;
    },
    search: async (input, options) => {
      const ctx = context(root, options);
      const { execute } = await judged(grep, input, ctx);
      return execute(ctx.signal, undefined, ctx);
    },
    read: (path) => readFileSync(join(root, path), "utf8"),
  };
}

/** Writes files, with their directories. */
export function plant(root: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

/** What a body is given; `cwd` is relative to nothing. */
export function context(cwd: string, options: Partial<RunContext> = {}): RunContext {
  return {
    cwd,
    callId: "c1",
    sessionId: "s_1",
    signal: new AbortController().signal,
    update: () => undefined,
    gate: () => Promise.reject(new Error("no gate")),
    mode: "default",
    attempt: 1,
    idempotencyKey: null,
    started: () => Promise.resolve(),
    pushPendingAction: () => {
      throw new Error("no staging");
    },
    ...options,
  };
}

async function judged(tool: Tool, input: object, ctx: RunContext): Promise<Invocation> {
  const built = await tool.build(input, ctx);
  await built.permission();
  return built;
}

/** A preview; fails for anything else. */
export function staged(made: Preview | ToolResult): Preview & { readonly details: JsonObject } {
  if (!("blocks" in made)) throw new Error(`nothing was staged: ${JSON.stringify(made)}`);
  return { ...made, details: detailsOf(made) };
}

/** A result; fails for a preview. */
export function plain(made: Preview | ToolResult): ToolResult & { readonly details: JsonObject } {
  if ("blocks" in made) throw new Error(`something was staged: ${made.label}`);
  return { ...made, details: detailsOf(made) };
}

/** The changed files of a preview, by path below the root, as text. */
export function afters(made: Preview | ToolResult, root: string): Record<string, string> {
  return Object.fromEntries(
    staged(made).changes.map(({ path, after }) => [path.slice(root.length + 1), Buffer.from(after ?? []).toString("utf8")]),
  );
}

function detailsOf({ details }: { readonly details?: unknown }): JsonObject {
  return (details ?? {}) as JsonObject;
}

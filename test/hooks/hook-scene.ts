import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import {
  type BatchReport,
  contentText,
  createDispatcher,
  createRegistry,
  type DecisionNotice,
  type DispatchEvent,
  type Dispatcher,
  defineTool,
  makeChecker,
  memoryLedger,
  type OpenApproval,
  openSession,
  staticPolicy,
} from "@assent/core";
import type { HookFunction } from "@assent/core/parts";
import { countingIds, scriptedApprover } from "@assent/core/testing";
import { createHookRunner, createHostFileChanges, createSystemClock, nodeDigest } from "@assent/host";
import { readHooks } from "@assent/policy";
import { z } from "zod";
import { readSettings } from "../../packages/policy/src/settings/read-settings.ts";

/** What a test says about the world its hooks stand in. */
export type SceneOptions = {
  /** The `hooks` of a settings file. */
  readonly hooks: object;
  readonly functions?: Readonly<Record<string, HookFunction>>;
  readonly mode?: string;
  readonly rules?: { readonly deny?: readonly string[]; readonly ask?: readonly string[]; readonly allow?: readonly string[] };
  /** What a person says to every approval; absent: nobody can be asked. */
  readonly person?: "approve" | "reject";
};

/** A session with a real dispatcher, real hooks, and two tools: `shell` writes its command into a file, `read` answers with its path. */
export type Scene = {
  readonly directory: string;
  readonly call: (command: string, tool?: string) => Promise<Called>;
  readonly process: Dispatcher["process"];
  readonly tools: ReturnType<typeof createRegistry>;
  /** What shell calls did to the world, in order. */
  readonly world: () => readonly string[];
  readonly asked: readonly OpenApproval[];
  readonly notices: readonly DecisionNotice[];
  readonly events: readonly DispatchEvent[];
  readonly warnings: readonly string[];
  readonly ran: () => Promise<readonly object[]>;
};

/** How one call ended. */
export type Called = { readonly outcome: string; readonly text: string; readonly report: BatchReport };

const HOLDER = { pid: 1, host: "host", processStart: "start", door: "test" };

export async function hookScene(t: TestContext, options: SceneOptions): Promise<Scene> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "assent-hooks-")));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const clock = createSystemClock();
  const ids = countingIds();
  const ledger = memoryLedger({ clock, ids });
  const session = await openSession({ ledger, clock, ids }, { holder: HOLDER, create: { cwd: directory } });
  const warnings: string[] = [];
  const events: DispatchEvent[] = [];
  const notices: DecisionNotice[] = [];
  const approver = scriptedApprover(() => options.person ?? "wait");
  const warn = (message: string): void => void warnings.push(message);
  const hooks = createHookRunner({
    entries: entriesOf(options),
    ...(options.functions && { functions: options.functions }),
    clock,
    digest: nodeDigest,
    environment: process.env,
    cwd: directory,
    projectDir: directory,
    sessionId: session.id,
    record: (ran) => session.record([session.draft("hook.ran", ran)], "normal"),
    warn,
    graceMs: 200,
    lingerMs: 200,
  });
  t.after(() => hooks.close());
  const { checker } = makeChecker({ label: "user permissions", scope: "user", ...options.rules });
  const policy = staticPolicy({
    revision: "1",
    mode: options.mode ?? "default",
    checkers: [checker],
    safeguards: [],
    honourReadOnlyHint: true,
  });
  const dispatcher = createDispatcher({
    ...{ session, clock, ids, digest: nodeDigest, policy, hooks, warn, changes: createHostFileChanges() },
    ...(options.person && { approver }),
    decided: (notice) => void notices.push(notice),
  });
  const tools = makeTools(directory);
  const run: Dispatcher["process"] = (batch, emit) =>
    dispatcher.process(batch, (event) => {
      events.push(event);
      emit?.(event);
    });
  return {
    directory,
    tools,
    process: run,
    call: async (command, tool = "shell") => {
      const calls = [{ id: "c1", name: tool, arguments: JSON.stringify(tool === "shell" ? { command } : { path: command }) }];
      return calledOf(await run({ calls, tools, signal: new AbortController().signal }));
    },
    world: () => linesOf(join(directory, "world")),
    asked: approver.shown,
    notices,
    events,
    warnings,
    ran: async () => {
      const found: object[] = [];
      for await (const { type, body } of ledger.read({ pos: 0 }, { session: session.id })) if (type === "hook.ran") found.push(body);
      return found;
    },
  };
}

function entriesOf({ hooks, functions = {} }: SceneOptions): ReturnType<typeof readHooks>["entries"] {
  const { hooks: written, problems } = readSettings("settings.json", JSON.stringify({ hooks }));
  assert.deepEqual(problems, []);
  const layer = { ...(written?.value ?? assert.fail("no hooks were read")), scope: "user", file: "settings.json" } as const;
  const parts = { functions: Object.keys(functions), compileRule: () => assert.fail("no test here has an if") };
  const read = readHooks(layer, parts);
  assert.deepEqual(read.problems, []);
  return read.entries;
}

function makeTools(directory: string): ReturnType<typeof createRegistry> {
  const tools = createRegistry();
  const shell = z.object({ command: z.string() }).loose();
  tools.add(
    defineTool({
      name: "shell",
      kind: "execute",
      description: "Writes its command into a file.",
      input: shell,
      inputSchema: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
      run: ({ command }) => {
        appendFileSync(join(directory, "world"), `${command}\n`);
        return `ran ${command}`;
      },
    }),
  );
  tools.add(
    defineTool({
      name: "read",
      kind: "read",
      description: "Answers with its path.",
      input: z.object({ path: z.string() }).loose(),
      inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      run: ({ path }) => `content of ${path}`,
    }),
  );
  return tools;
}

export function calledOf(report: BatchReport, at = 0): Called {
  const result = report.results[at];
  assert.ok(result && result.outcome !== "waiting", "the call has no result");
  const { outcome, type } = result;
  return { outcome: type === null ? outcome : `${outcome} ${type}`, text: contentText(result.result.content), report };
}

export function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type AgentName, agentRun, type FakeModel, type PlannedSubagent, type PlannedTurn, shellCall, startFakeModel } from "@assent/guard";

const ROOT = join(import.meta.dirname, "../..");
const BIN = join(ROOT, "packages/cli/bin/assent.js");
const INSTALLED = join(ROOT, "node_modules/.cache/agents");
/** A hook starts from the build in a third of the time. */
const FROM_BUILD = process.env["ASSENT_DIST"] === "1" ? { ASSENT_DIST: "1" } : {};

/** Where `npm run agents` puts the agent; undefined if it is not there. */
export function findAgent(agent: AgentName): string | undefined {
  const folder = join(INSTALLED, agent, "node_modules/.bin");
  return existsSync(join(folder, agent)) ? folder : undefined;
}

export type Ended = { readonly code: number | null; readonly output: string };

export type StartedAgent = { readonly pid: number; readonly end: Promise<Ended>; readonly model: FakeModel };

/** A home, a workspace and real agents that Assent guards. */
export type GuardedPlace = {
  readonly home: string;
  readonly workspace: string;
  /** Runs an `assent` command for the same home. */
  readonly assent: (...argv: readonly string[]) => Promise<Ended>;
  readonly json: (...argv: readonly string[]) => Promise<ReturnType<typeof JSON.parse>>;
  /** Starts an agent with a model that proposes these turns. */
  readonly startAgent: (
    agent: AgentName,
    turns: readonly PlannedTurn[],
    more?: {
      readonly subagents?: readonly PlannedSubagent[];
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    },
  ) => Promise<StartedAgent>;
  readonly ran: (name: string) => boolean;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** `store` is the URL of a record on PostgreSQL, `options` are those of `hook install`, which `withoutHooks` leaves out. The home is below node_modules, because Gemini CLI refuses settings below a directory that everyone can write. */
export async function guardAgents(
  agents: readonly AgentName[],
  settings: object,
  {
    store,
    options = [],
    withoutHooks = false,
  }: { readonly store?: string | undefined; readonly options?: readonly string[]; readonly withoutHooks?: boolean } = {},
): Promise<GuardedPlace> {
  mkdirSync(INSTALLED, { recursive: true });
  const home = realpathSync(mkdtempSync(join(INSTALLED, "home-")));
  const workspace = join(home, "workspace");
  mkdirSync(join(workspace, ".git"), { recursive: true });
  mkdirSync(join(home, ".config/assent"), { recursive: true });
  writeFileSync(join(home, ".config/assent/settings.json"), JSON.stringify(settings), { mode: 0o600 });
  const path = [dirname(process.execPath), ...agents.map((agent) => findAgent(agent) ?? ""), process.env["PATH"] ?? ""].join(delimiter);
  const env = { HOME: home, PATH: path, NODE_COMPILE_CACHE: join(INSTALLED, "../assent-test"), ...FROM_BUILD };
  const running: { child: ChildProcess; model: FakeModel }[] = [];
  const assent = (...argv: readonly string[]): Promise<Ended> =>
    ended(spawn(process.execPath, [BIN, ...argv, ...(store === undefined ? [] : ["--store", store])], { cwd: workspace, env }));
  for (const agent of withoutHooks ? [] : agents) {
    const installed = await assent("hook", "install", agent, "--yes", ...options);
    if (installed.code !== 0) throw new Error(installed.output);
  }
  return {
    home,
    workspace,
    assent,
    json: async (...argv) => JSON.parse((await assent(...argv, "--json")).output),
    startAgent: async (agent, turns, { subagents = [], args: given = [], env: chosen = {} } = {}) => {
      const model = await startFakeModel(turns, subagents);
      const { program, args, env: more, config } = agentRun(agent, model.url);
      const file = join(home, `${agent}-config.json`);
      if (config) writeFileSync(file, config.text);
      const all = { ...env, ...more, ...chosen, ...(config && { [config.variable]: file }) };
      const trusted = agent === "codex" ? ["--dangerously-bypass-hook-trust"] : [];
      const child = spawn(program, [...args.slice(0, 1), ...trusted, ...given, ...args.slice(1)], {
        cwd: workspace,
        env: all,
        stdio: ["ignore", "pipe", "pipe"],
      });
      running.push({ child, model });
      return { pid: child.pid ?? 0, end: ended(child), model };
    },
    ran: (name) => existsSync(join(workspace, name)),
    [Symbol.asyncDispose]: async () => {
      for (const { child, model } of running) {
        child.kill("SIGKILL");
        await model.close();
      }
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export type Approval = { readonly id: string; readonly sessionId: string };

/** Waits for the approval that the agent's hook opens, unless the agent ends first. */
export async function openApproval(place: GuardedPlace, end: Promise<Ended>): Promise<Approval> {
  let over: Ended | undefined;
  void end.then((value) => {
    over = value;
  });
  for (;;) {
    const [approval] = await place.json("approvals");
    if (approval) return approval;
    if (over) throw new Error(`the agent ended without asking: ${over.output}`);
  }
}

export async function verifyRecord(place: GuardedPlace): Promise<void> {
  const { code, output } = await place.assent("verify");
  assert.equal(code, 0, output);
}

/** One turn that proposes these command lines at once. */
export function propose(agent: AgentName, ...commands: readonly string[]): PlannedTurn {
  return { calls: commands.map((command) => shellCall(agent, command)) };
}

function ended(child: ChildProcess): Promise<Ended> {
  let output = "";
  child.stdin?.end();
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

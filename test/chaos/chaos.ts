import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ended, type Place, place } from "../../packages/cli/test/support/assent.ts";
import type { PostgresServer } from "../../packages/store-postgres/test/postgres-server.ts";
import { check } from "../crash/check.ts";
import { seeded } from "../crash/seeded.ts";
import { worldLines } from "../crash/world-tools.ts";
import { APPROVER } from "./approver.ts";
import { ENTRY } from "./entry.ts";
import { type LoopbackProxy, startLoopbackProxy } from "./loopback-proxy.ts";

export type ChaosPlan = {
  readonly seed: number;
  readonly sessions: number;
  readonly turns: number;
  /** Per turn. */
  readonly calls: number;
  /** Time between two faults. */
  readonly faultMs: number;
  /** Faults stop when this is over, so that what is left can come to rest. */
  readonly chaosMs: number;
  /** After this, sessions that are not done are stuck. */
  readonly limitMs: number;
};

export type ChaosFigures = {
  readonly calls: number;
  readonly effects: number;
  readonly succeeded: number;
  readonly unknown: number;
  readonly otherOutcomes: readonly string[];
  /** Calls with more than one effect. */
  readonly twice: number;
  /** Calls without an end, and successes without an effect. */
  readonly lost: number;
  /** Sessions that are not done. */
  readonly stuck: readonly string[];
  readonly faults: Readonly<Record<Fault, number>>;
  readonly takeOvers: number;
  readonly seconds: number;
  readonly verify: string;
  /** Of the independent checker, on a copy of the ledger. */
  readonly violations: readonly unknown[];
};

type Fault = "kill" | "stop" | "cut" | "silence" | "restart" | "crash";

/** A stopped or silenced worker must lose its lease of 15 s. */
const PAST_LEASE_MS = 18_000;
const WORKERS = 3;
const SHOWN = process.env["ASSENT_TEST_SHOW"] === "1" ? "inherit" : "ignore";

/** Lets three workers continue runs whose calls a fourth process approves, while faults strike, and counts what came of it. */
export async function runChaos(server: PostgresServer, plan: ChaosPlan): Promise<ChaosFigures> {
  using at = place();
  const world = join(at.root, "world");
  const direct = server.url(`chaos${plan.seed}`);
  const env = { ...at.env, ASSENT_STORE: direct, ASSENT_TEST_WORLD: world };
  const scene: Scene = { at, env, direct, world };
  const begun = performance.now();
  const ids = await submitRuns(scene, plan);
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startSlot(scene, server)));
  const approver = spawn(process.execPath, [...APPROVER], { cwd: at.workspace, env, stdio: ["pipe", "ignore", SHOWN] });
  const approverEnded = ended(approver);
  const isDone = { all: false };
  const faults = strike(server, workers, plan, () => isDone.all);
  try {
    const stuck = await Promise.race([waitForAll(scene, ids, begun + plan.limitMs), approverEnded.then(failApprover)]);
    isDone.all = true;
    const struck = await faults;
    approver.stdin?.end();
    await approverEnded;
    await Promise.all(workers.map(({ stop }) => stop()));
    return { ...(await count(scene, ids)), stuck, faults: struck, seconds: Math.round((performance.now() - begun) / 1_000) };
  } finally {
    isDone.all = true;
    await faults.catch(() => undefined);
    approver.kill("SIGKILL");
    for (const { end } of workers) end();
  }
}

function failApprover({ code, signal }: { readonly code: number | null; readonly signal: string | null }): never {
  throw new Error(`the approver ended with ${code ?? signal}`);
}

type Scene = { readonly at: Place; readonly env: Record<string, string>; readonly direct: string; readonly world: string };

async function command({ at, env }: Scene, argv: readonly string[]): Promise<ReturnType<typeof JSON.parse>> {
  const { code, stdout, stderr } = await at.here([...argv, "--json"], { env });
  if (code !== 0) throw new Error(`assent ${argv.join(" ")}: ${stderr}${stdout}`);
  return stdout.trim().split("\n").length > 1
    ? stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    : JSON.parse(stdout);
}

async function submitRuns(scene: Scene, { sessions, turns, calls }: ChaosPlan): Promise<readonly string[]> {
  const turn = (at: number): object => ({
    calls: Array.from({ length: calls }, (_, n) => ({ tool: "effect", id: `c${at}_${n}`, input: { note: `${at}.${n}` } })),
  });
  const script = { turns: [...Array.from({ length: turns }, (_, at) => turn(at)), { say: "Done." }] };
  const file = scene.at.write("run.json", JSON.stringify(script));
  const ids: string[] = [];
  for (let at = 0; at < sessions; at += 1)
    ids.push((await command(scene, ["run", "go", "--detach", "--quiet", "--model", `script:${file}`])).sessionId);
  return ids;
}

/** A place for one worker behind a proxy of its own. A killed worker is replaced by a new process. */
type Slot = {
  readonly proxy: LoopbackProxy;
  readonly kill: () => Promise<void>;
  readonly signal: (signal: "SIGSTOP" | "SIGCONT") => void;
  readonly stop: () => Promise<void>;
  readonly end: () => void;
  isBusy: boolean;
};

async function startSlot({ at, env, direct }: Scene, server: PostgresServer): Promise<Slot> {
  const proxy = await startLoopbackProxy(server.socket);
  const schema = new URL(direct.replace("@/", "@localhost/")).searchParams.get("schema");
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres?schema=${schema}`;
  const start = (): ChildProcess =>
    spawn(process.execPath, [...ENTRY, "worker", "--quiet", "--concurrency", "4"], {
      cwd: at.workspace,
      env: { ...env, ASSENT_STORE: url },
      stdio: ["ignore", "ignore", SHOWN],
    });
  const exited = (child: ChildProcess): Promise<void> =>
    child.exitCode !== null || child.signalCode !== null
      ? Promise.resolve()
      : new Promise((resolve) => child.once("exit", () => resolve()));
  let child = start();
  let isOver = false;
  const revive = (ended: ChildProcess): void => void exited(ended).then(() => (isOver || child !== ended ? undefined : restart()));
  const restart = (): void => {
    child = start();
    revive(child);
  };
  revive(child);
  return {
    proxy,
    isBusy: false,
    kill: async () => {
      const killed = child;
      killed.kill("SIGKILL");
      await exited(killed);
    },
    signal: (signal) => void child.kill(signal),
    stop: async () => {
      isOver = true;
      child.kill("SIGTERM");
      await exited(child);
      proxy.close();
    },
    end: () => {
      isOver = true;
      child.kill("SIGKILL");
      proxy.close();
    },
  };
}

/** Strikes until everything is done or the time of chaos is over. Long faults overlap with others. */
async function strike(
  server: PostgresServer,
  slots: readonly Slot[],
  { seed, faultMs, chaosMs }: ChaosPlan,
  isDone: () => boolean,
): Promise<Readonly<Record<Fault, number>>> {
  const random = seeded(seed);
  const faults: Record<Fault, number> = { kill: 0, stop: 0, cut: 0, silence: 0, restart: 0, crash: 0 };
  const lasting: Promise<void>[] = [];
  const forAWhile = async (slot: Slot, begin: () => void, end: () => void): Promise<void> => {
    slot.isBusy = true;
    begin();
    for (let left = PAST_LEASE_MS; left > 0 && !isDone(); left -= 100) await wait(100);
    end();
    slot.isBusy = false;
  };
  const until = performance.now() + chaosMs;
  const kinds: readonly Fault[] = ["kill", "stop", "cut", "kill", "restart", "cut", "silence", "crash"];
  for (let round = 0; performance.now() < until && !isDone(); round += 1) {
    await wait(faultMs / 2 + random(faultMs));
    const free = slots.filter(({ isBusy }) => !isBusy);
    const slot = free[random(free.length)];
    const fault = kinds[round % kinds.length] ?? "kill";
    if (!slot || isDone()) continue;
    faults[fault] += 1;
    if (fault === "kill") await slot.kill();
    else if (fault === "cut") slot.proxy.cut();
    else if (fault === "stop")
      lasting.push(
        forAWhile(
          slot,
          () => slot.signal("SIGSTOP"),
          () => slot.signal("SIGCONT"),
        ),
      );
    else if (fault === "silence")
      lasting.push(
        forAWhile(
          slot,
          () => slot.proxy.silence(true),
          () => slot.proxy.silence(false),
        ),
      );
    else await server.restart(fault === "restart" ? "in order" : "crash");
  }
  await Promise.all(lasting);
  return faults;
}

/** The sessions that are not done at the deadline. */
async function waitForAll(scene: Scene, ids: readonly string[], deadline: number): Promise<readonly string[]> {
  for (;;) {
    const open = await readOpen(scene, ids).catch(() => undefined); // the database may be away
    if (open?.length === 0) return [];
    if (performance.now() > deadline) return open ?? ids;
    await wait(1_000);
  }
}

async function readOpen(scene: Scene, ids: readonly string[]): Promise<readonly string[]> {
  const rows: readonly { readonly id: string; readonly state: string }[] = [await command(scene, ["sessions", "--limit", "1000"])].flat();
  const states = new Map(rows.map(({ id, state }) => [id, state]));
  return ids.filter((id) => states.get(id) !== "done").map((id) => `${id} ${states.get(id)}`);
}

type LoggedEvent = { readonly session: string; readonly type: string; readonly body: Readonly<Record<string, string>> };

async function count(scene: Scene, ids: readonly string[]): Promise<Omit<ChaosFigures, "stuck" | "faults" | "seconds">> {
  const events: readonly LoggedEvent[] = await command(scene, ["log"]);
  const key = (session: string, call: string | undefined): string => `${session} ${call}`;
  const of = (type: string): readonly LoggedEvent[] => events.filter((event) => event.type === type && ids.includes(event.session));
  const calls = of("call.proposed").map(({ session, body }) => key(session, body["call"]));
  const ends = Map.groupBy(of("call.ended"), ({ session, body }) => key(session, body["call"]));
  const effects = Map.groupBy(worldLines(scene.world), ({ session, call }) => key(session, call));
  const outcomes = of("call.ended").map(({ body }) => body["outcome"] ?? "");
  const isLost = (call: string): boolean => {
    const [end] = ends.get(call) ?? [];
    return !end || (end.body["outcome"] === "succeeded" && !effects.has(call));
  };
  const copy = join(scene.at.root, "copy");
  const { ok, findings } = await command(scene, ["verify"]);
  await command(scene, ["store", "copy", scene.direct, copy]);
  return {
    calls: calls.length,
    effects: [...effects.values()].flat().length,
    succeeded: outcomes.filter((outcome) => outcome === "succeeded").length,
    unknown: outcomes.filter((outcome) => outcome === "unknown").length,
    otherOutcomes: outcomes.filter((outcome) => !["succeeded", "unknown"].includes(outcome)),
    twice: [...effects.values()].filter(({ length }) => length > 1).length,
    lost: calls.filter(isLost).length,
    takeOvers: of("session.opened").length - ids.length,
    verify: ok === true ? "sound" : JSON.stringify(findings),
    violations: check({ store: copy, world: scene.world }).violations,
  };
}

import { fork, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Ledger, openSession } from "@assent/core";
import { createHostPorts } from "@assent/host";
import { openLedger } from "@assent/store";
import { type Row, valueRow } from "./measure.ts";

const EVENTS = Number(process.env["BENCH_EVENTS"] ?? 1_000_000);
const APPROVALS = 10_000;
const SESSIONS = 100;
const ports = createHostPorts({ stateDirectory: "/nonexistent" });
const holder = { pid: process.pid, host: "bench", processStart: "0", door: "bench" };
const create = { cwd: "/" };

async function fill(ledger: Ledger): Promise<string> {
  const session = await openSession({ ledger, clock: ports.clock, ids: ports.ids }, { holder, create });
  for (let call = 0; call < EVENTS / 4; call += 250) {
    const writes: Promise<unknown>[] = [];
    for (let index = call; index < call + 250; index += 1) writes.push(...writeCall(session, `c${index}`));
    await Promise.all(writes);
  }
  await session.close("done", 0);
  return session.id;
}

type Open = Awaited<ReturnType<typeof openSession>>;

function writeCall(session: Open, call: string): Promise<unknown>[] {
  const judged = {
    call,
    revision: 1,
    fingerprint: "f".repeat(64),
    tool: "read",
    toolDigest: "d",
    kind: "read",
    safe: true,
    input: { file_path: "src/a.ts" },
    cwd: "/",
    binds: {},
  } as const;
  const verdict = {
    verdict: "allow",
    explicitAsk: false,
    reason: "readonly_hint",
    source: "",
    rule: null,
    trace: [],
    units: 1,
    policy: "bench",
  } as const;
  const before = [
    session.draft("call.proposed", { call, turn: 0, index: 0, tool: "read", raw: "{}", givenId: call }),
    session.draft("call.judged", { ...judged, ...verdict }),
  ];
  const claimed = session.draft("call.claimed", {
    call,
    fingerprint: judged.fingerprint,
    answer: null,
    attempt: 1,
    durability: "normal",
    idempotencyKey: null,
    plan: null,
  });
  const ended = session.draft("call.ended", { call, outcome: "succeeded", type: null, content: "done", durationMs: 1 });
  return [session.record(before, "normal"), Promise.resolve(session.claim(claimed)), session.record([ended], "normal")];
}

async function openApprovals(ledger: Ledger): Promise<void> {
  const each = APPROVALS / SESSIONS;
  for (let at = 0; at < SESSIONS; at += 1) {
    const session = await openSession({ ledger, clock: ports.clock, ids: ports.ids }, { holder, create });
    const writes: Promise<unknown>[] = [];
    for (let index = 0; index < each; index += 1) writes.push(session.record(askedCall(session, `c${index}`, at * each + index), "normal"));
    await Promise.all(writes);
  }
}

/** Each asks about another command. */
export function askedCall(session: Open, call: string, number: number): Parameters<Open["record"]>[0] {
  const judged = {
    call,
    revision: 1,
    fingerprint: String(number).padStart(64, "f"),
    tool: "shell",
    toolDigest: "d",
    kind: "execute",
    safe: false,
    input: { command: `make t${number}` },
    cwd: "/",
    binds: {},
  } as const;
  const verdict = {
    verdict: "ask",
    explicitAsk: false,
    reason: "default",
    source: "",
    rule: null,
    trace: [],
    units: 1,
    policy: "bench",
  } as const;
  const details = { type: "exec", title: "Confirm command", command: `make t${number}`, rootCommand: "make" } as const;
  const approval = {
    approval: ports.ids.next("a_"),
    call,
    revision: 1,
    fingerprint: judged.fingerprint,
    tool: "shell",
    title: "Confirm command",
  };
  return [
    session.draft("call.proposed", { call, turn: 0, index: 0, tool: "shell", raw: "{}", givenId: call }),
    session.draft("call.judged", { ...judged, ...verdict }),
    session.draft("approval.opened", {
      ...approval,
      reason: "default",
      source: "",
      rule: null,
      explicitAsk: false,
      details,
      facts: null,
      suggestions: [`Shell(make t${number})`],
      expiresAt: null,
    }),
  ];
}

/** Opens the store in a process of its own, so that its time and memory are its own. */
function openElsewhere(directory: string, session: string): Promise<{ ms: number; rssMb: number }> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL("open-large.ts", import.meta.url)), [directory, session], {
      execArgv: ["--conditions=@assent/source"],
    });
    child.once("message", (message) => resolve(message as { ms: number; rssMb: number }));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`opening the store ended with ${code}`)));
  });
}

const PROGRAM = fileURLToPath(new URL("../packages/cli/bin/assent.js", import.meta.url));
const TELL = "data:text/javascript,process.on('exit',()=>console.error(JSON.stringify(process.resourceUsage())))";

/** `assent stats` over the store: its processor time, and the most memory that it took. */
function readStats(directory: string): { readonly ms: number; readonly rssMb: number } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", TELL, PROGRAM, "stats", "--json", "--store", directory], {
    encoding: "utf8",
    maxBuffer: 2 ** 27,
  });
  if (status !== 0 || JSON.parse(stdout).asked !== APPROVALS) throw new Error(`stats ended with ${status}: ${stderr}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(stderr.trimEnd().split("\n").at(-1) ?? "");
  return { ms: (userCPUTime + systemCPUTime) / 1e3, rssMb: maxRSS / 1e3 };
}

async function answerOne(ledger: Ledger): Promise<number> {
  const [row] = await ledger.pending("approvals", { limit: 1 });
  if (!row) throw new Error("no approval is open");
  const by = { kind: "person", user: "bench", name: "bench", door: "bench", pid: process.pid } as const;
  const body = {
    approval: row.id,
    session: row.session,
    call: row.call,
    revision: row.revision,
    outcome: "approved",
    fingerprint: row.fingerprint,
    by,
    reason: null,
  } as const;
  const start = performance.now();
  await ledger.answer([{ type: "approval.answered", v: 1, at: new Date().toISOString(), body }]);
  return performance.now() - start;
}

/** The rows about a large store. */
export async function largeRows(): Promise<readonly Row[]> {
  const directory = await mkdtemp(join(tmpdir(), "assent-bench-"));
  try {
    const ledger = await openLedger({ directory });
    const session = await fill(ledger);
    await openApprovals(ledger);
    const start = performance.now();
    const page = await ledger.pending("approvals", { limit: 100 });
    const list = performance.now() - start;
    if (page.length !== 100) throw new Error(`a page has ${page.length} rows`);
    const answer = await answerOne(ledger);
    await ledger.close();
    const opened = await openElsewhere(directory, session);
    const stats = readStats(directory);
    return [
      valueRow(`cold open, ${EVENTS.toLocaleString("en")} events in one session, snapshot`, { value: opened.ms, unit: "ms" }, 1_000),
      valueRow("… its memory", { value: opened.rssMb, unit: "MB" }, 500),
      valueRow("10,000 open approvals: list a page", { value: list, unit: "ms" }, 200),
      valueRow("10,000 open approvals: answer one", { value: answer, unit: "ms" }, 50),
      valueRow(
        `assent stats, ${EVENTS.toLocaleString("en")} events and 10,000 questions, processor time`,
        { value: stats.ms, unit: "ms" },
        10_000,
      ),
      valueRow("… its memory", { value: stats.rssMb, unit: "MB" }, 500),
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

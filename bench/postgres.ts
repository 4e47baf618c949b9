import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Approver,
  createDispatcher,
  createRegistry,
  defineTool,
  type Lease,
  type Ledger,
  type LedgerEvent,
  openSession,
  staticPolicy,
} from "@assent/core";
import {
  answeredDraft,
  claimedDraft,
  createdDraft,
  draftOf,
  endedDraft,
  judgedDraft,
  openedDraft,
  proposedDraft,
  TESTER,
} from "@assent/core/testing";
import { createHostPorts, currentHolder } from "@assent/host";
import { openPostgresLedger } from "@assent/store-postgres";
import { z } from "zod";
import { type Connection, makeConnect } from "../packages/store-postgres/src/connect/connection.ts";
import { parseStoreUrl } from "../packages/store-postgres/src/connect/store-url.ts";
import { runPostgres } from "../packages/store-postgres/test/postgres-server.ts";
import { microseconds, type Row, ratioRow, valueRow } from "./measure.ts";

/** Commits of the ledger and bare inserts take turns, and their medians are compared, so that a few slow or fast ones change nothing. */
const SINGLE = 2_000;
const GROUP = 100;
const GROUPS = 400;
const ANSWERS = 101;
const EVENTS = Number(process.env["BENCH_EVENTS"] ?? 1_000_000);
const SESSIONS = EVENTS / 100;
const FEW_SESSIONS = 200;
const SESSIONS_AT_ONCE = 25;
const ports = createHostPorts({ stateDirectory: "/nonexistent" });

/** Stores this many events with one commit. */
type Commit = (events: number) => Promise<unknown>;

/** A table with the columns of the ledger's events and a primary key, one statement per commit. */
async function bareInserts(connection: Connection): Promise<Commit> {
  await connection.query("create table bare (like append.events, primary key (pos))");
  const { rows, fields } = await connection.query<Readonly<Record<string, unknown>>>(
    "select * from append.events order by pos desc limit 1",
  );
  const columns = fields.filter(({ name }) => name !== "pos").map(({ name }) => name);
  const types = columns.map((name) => (typeof rows[0]?.[name] === "number" ? "bigint" : "text"));
  const arrays = types.map((type, at) => `$${at + 2}::${type}[]`);
  const text = `insert into bare (pos, ${columns.join(", ")}) select * from unnest($1::bigint[], ${arrays.join(", ")})`;
  let pos = 0;
  return (events) => {
    const values = columns.map((name) => Array.from({ length: events }, () => rows[0]?.[name]));
    return connection.query(text, [Array.from({ length: events }, () => (pos += 1)), ...values]);
  };
}

const SESSION = "s_aaaaaaaaaaaaaaaaaaaa";

/** Appends of one event each. Those of one tick share a commit. */
async function ledgerAppends(ledger: Ledger): Promise<Commit> {
  const lease = await beginSession(ledger, SESSION);
  let seq = 2;
  const append = (): Promise<readonly LedgerEvent[]> => {
    const body = { event: "post_tool_use", hook: "x".repeat(600), outcome: "allow", durationMs: 1 } as const;
    return ledger.append(lease, seq++, { events: [draftOf("hook.ran", body)], durability: "full" });
  };
  await append();
  return (events) => Promise.all(Array.from({ length: events }, append));
}

/** A new session with two events. */
async function beginSession(ledger: Ledger, session: string): Promise<Lease> {
  const holder = currentHolder("bench");
  const lease = await ledger.acquire(session, holder);
  await ledger.append(lease, 0, {
    events: [createdDraft(), draftOf("session.opened", { ...holder, recovered: [] })],
    durability: "normal",
  });
  return lease;
}

async function appendRows(ledger: Ledger, connection: Connection): Promise<readonly Row[]> {
  const ours = await ledgerAppends(ledger);
  const bare = await bareInserts(connection);
  const row = async (name: string, events: number, commits: number): Promise<Row> => {
    const base: number[] = [];
    const value: number[] = [];
    const time = (commit: Commit): Promise<number> => microseconds(1, () => commit(events).then(() => events));
    for (let at = 0; at < commits; at += 1) {
      base.push(await time(bare));
      value.push(await time(ours));
    }
    return ratioRow(name, { base: median(base), value: median(value) }, { of: "bare inserts", most: 2 });
  };
  return [
    await row("PostgreSQL: durable event, one per commit", 1, SINGLE),
    await row(`PostgreSQL: durable event, ${GROUP} per commit`, GROUP, GROUPS),
  ];
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
}

/** From the answer of another process to the start of the waiting call, in milliseconds: the median. */
async function wakeDelay(waiting: Ledger, other: Ledger): Promise<number> {
  const delays: number[] = [];
  let answeredAt = 0;
  const tool = defineTool({
    name: "act",
    description: "Does nothing.",
    kind: "other",
    input: z.object({}),
    run: () => {
      delays.push(performance.now() - answeredAt);
      return "done";
    },
  });
  const session = await openSession({ ledger: waiting, ...ports }, { holder: currentHolder("bench"), create: { cwd: "/" } });
  const silent: Approver = {
    available: () => true,
    ask: (_, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
  };
  const dispatcher = createDispatcher({ session, ...ports, policy: staticPolicy(), approver: silent });
  const tools = createRegistry();
  tools.add(tool);
  const answers = other.subscribe({ pos: await other.head() }, { types: ["approval.opened"] }, (event) => {
    const { approval, call, revision, fingerprint } = event.body as LedgerEvent<"approval.opened">["body"];
    const body = { approval, session: event.session, call, revision, fingerprint, by: TESTER, reason: null, outcome: "approved" } as const;
    answeredAt = performance.now();
    void other.answer([draftOf("approval.answered", body)]);
  });
  for (let at = 0; at < ANSWERS; at += 1) {
    const { results } = await dispatcher.process({
      calls: [{ id: `c${at}`, name: "act", arguments: "{}" }],
      tools,
      signal: new AbortController().signal,
    });
    if (results[0]?.outcome !== "succeeded") throw new Error(`a call did not succeed: ${JSON.stringify(results[0])}`);
  }
  answers.close();
  await session.close("done", 0);
  return median(delays);
}

/** Sessions with ended calls and one open approval each, written by the ledger itself. */
async function fillSessions(ledger: Ledger, sessions: number, events: number): Promise<void> {
  const calls = Math.round((events / sessions - 5) / 4);
  for (let first = 0; first < sessions; first += SESSIONS_AT_ONCE) {
    const ids = Array.from(
      { length: Math.min(SESSIONS_AT_ONCE, sessions - first) },
      (_, at) => `s_${String(first + at).padStart(20, "0")}`,
    );
    await Promise.all(ids.map((id) => fillSession(ledger, id, calls)));
  }
}

async function fillSession(ledger: Ledger, session: string, calls: number): Promise<void> {
  const lease = await beginSession(ledger, session);
  const writes: Promise<unknown>[] = [];
  for (let at = 0; at < calls; at += 1) {
    const seq = 2 + at * 4;
    writes.push(
      ledger.append(lease, seq, { events: [proposedDraft(`c${at}`), judgedDraft(`c${at}`)], durability: "normal" }),
      ledger.claim(lease, seq + 2, claimedDraft(`c${at}`, { durability: "normal" })),
      ledger.append(lease, seq + 3, { events: [endedDraft(`c${at}`)], durability: "normal" }),
    );
  }
  const call = `${session}_waits`;
  const asked = [proposedDraft(call), judgedDraft(call, { verdict: "ask" }), openedDraft(call)];
  writes.push(ledger.append(lease, 2 + calls * 4, { events: asked, durability: "normal" }));
  await Promise.all(writes);
}

type Answered = { readonly list: number; readonly answer: number };

/** Milliseconds to list the first page of approvals and to answer one of it. */
async function listAndAnswer(ledger: Ledger): Promise<Answered> {
  const start = performance.now();
  const [row] = await ledger.pending("approvals", { limit: 100 });
  const listed = performance.now();
  if (!row) throw new Error("no approval is open");
  await ledger.answer([answeredDraft(row.session, row.call)]);
  return { list: listed - start, answer: performance.now() - listed };
}

/** The best of several, alternating between a small and a large ledger. */
async function growthRows(small: Ledger, large: Ledger): Promise<readonly Row[]> {
  const best = {
    small: { list: Number.POSITIVE_INFINITY, answer: Number.POSITIVE_INFINITY },
    large: { list: Number.POSITIVE_INFINITY, answer: Number.POSITIVE_INFINITY },
  };
  for (let round = 0; round < 50; round += 1) {
    for (const [name, ledger] of [
      ["small", small],
      ["large", large],
    ] as const) {
      const { list, answer } = await listAndAnswer(ledger);
      best[name] = { list: Math.min(best[name].list, list), answer: Math.min(best[name].answer, answer) };
    }
  }
  const size = `${EVENTS.toLocaleString("en")} events, ${SESSIONS.toLocaleString("en")} sessions`;
  const row = (what: keyof Answered, name: string, most: number): Row =>
    ratioRow(
      `PostgreSQL, ${size}, an open approval each: ${name}`,
      { value: best.large[what], base: best.small[what], unit: "ms" },
      { of: `with ${FEW_SESSIONS} sessions`, most },
    );
  return [row("list", "list a page of 100", 3), row("answer", "answer one", 2)];
}

/** The rows about the ledger on PostgreSQL. */
export async function postgresRows(): Promise<readonly Row[]> {
  const directory = await mkdtemp(join(tmpdir(), "assent-bench-"));
  const server = await runPostgres(18, true);
  const opened: { readonly close: () => Promise<void> }[] = [];
  const open = async (schema: string): Promise<Ledger> => {
    const ledger = await openPostgresLedger({ url: server.url(schema), directory });
    opened.push(ledger);
    return ledger;
  };
  try {
    const connection = await makeConnect(parseStoreUrl(server.url("public")))();
    opened.push(connection);
    const rows = [...(await appendRows(await open("append"), connection))];
    const delay = await wakeDelay(await open("wake"), await open("wake"));
    rows.push(valueRow("PostgreSQL: from an answer elsewhere to the start of the call", { value: delay, unit: "ms" }, 100));
    const [small, large] = [await open("small"), await open("large")];
    await fillSessions(small, FEW_SESSIONS, FEW_SESSIONS * 100);
    await fillSessions(large, SESSIONS, EVENTS);
    await connection.query("vacuum analyze"); // as autovacuum does in time
    rows.push(...(await growthRows(small, large)), await coldOpen(server.url("large"), directory));
    return rows;
  } finally {
    for (const one of opened) await one.close();
    await server.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

/** A process that begins: it opens the ledger and a session. */
async function coldOpen(url: string, directory: string): Promise<Row> {
  const start = performance.now();
  const ledger = await openPostgresLedger({ url, directory });
  for await (const _ of ledger.read({ session: "s_00000000000000000000", seq: 0 })) {
  }
  const value = performance.now() - start;
  await ledger.close();
  return valueRow("PostgreSQL, the same: open it and read a session", { value, unit: "ms" }, 1_000);
}

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";

/**
 * The independent reader of a ledger: own SQL, own canonical JSON, own hashes, and not one import of ours, so that a mistake
 * in the runtime or the store cannot hide itself here. It looks at rows, at the world file and at what clients printed.
 */
export type Violation = {
  readonly invariant: "I1" | "I2" | "I3" | "I4" | "I5" | "I6" | "I7" | "I8" | "I9" | "I10";
  readonly session: string;
  /** Null where no row stands for what went wrong: an effect that only the world shows, a promise that only a client shows. */
  readonly seq: number | null;
  readonly message: string;
};

/** What the checker found; `ok` means no violation. */
export type Report = { readonly ok: boolean; readonly violations: readonly Violation[] };

/** Reads everything once, after the program under test has come to rest. Throws when an input cannot be read at all. */
export function check(input: { readonly store: string; readonly world: string; readonly clientLog?: string }): Report {
  const history = load(input);
  const { chains, calls } = history;
  const violations = [
    ...[linked, inTurn].flatMap((look) => [...chains.values()].flatMap((rows) => [...look(history, rows)])),
    ...[ended, claimed, attempted, shown].flatMap((look) => calls.flatMap((call) => [...look(history, call)])),
    ...[tasksEnded, noticesTold].flatMap((look) => [...chains.values()].flatMap((rows) => [...look(rows)])),
    ...[settledOnce, consumedOnce, effects, promises].flatMap((look) => [...look(history)]),
  ];
  return { ok: violations.length === 0, violations };
}

const SHARED = "_store";
const ZEROS = "0".repeat(64);

/** The fields of event bodies that any invariant looks at. */
export type Body = {
  readonly call?: string;
  readonly session?: string;
  readonly turn?: number;
  readonly index?: number;
  readonly approval?: string;
  readonly revision?: number | string;
  readonly fingerprint?: string;
  readonly edited?: { readonly fingerprint: string };
  readonly outcome?: string;
  readonly verdict?: string;
  readonly answer?: { readonly pos: number } | null;
  readonly attempt?: number;
  readonly idempotencyKey?: string | null;
  readonly grant?: string;
  readonly by?: { readonly kind: string; readonly id?: string; readonly name?: string };
  readonly policy?: string;
  readonly task?: string;
  readonly notice?: string;
  readonly ids?: readonly string[];
  readonly [field: string]: unknown;
};

/** One row of the ledger. */
export type Row = {
  readonly pos: number;
  readonly session: string;
  readonly seq: number;
  readonly epoch: number;
  readonly at: string;
  readonly type: string;
  readonly v: number;
  readonly body: Body;
  readonly prev: string;
  readonly hash: string;
};

/** One call's rows, of its own chain and of the shared chain, in store order. */
type Call = { readonly session: string; readonly id: string; readonly rows: readonly [Row, ...Row[]] };

type WorldLine = { readonly call: string; readonly session: string; readonly attempt: number; readonly key: string | null };

/** A line that `assent approve --json`, `reject --json`, `apply --json`, `discard --json` or `call --json` printed. */
type ClientLine = {
  readonly id?: string;
  readonly sessionId?: string;
  readonly callId?: string;
  readonly approvalId?: string;
  readonly outcome: string;
  readonly type?: string | null;
};

type History = {
  readonly storeId: string;
  readonly rows: readonly Row[];
  readonly chains: ReadonlyMap<string, readonly Row[]>;
  readonly calls: readonly Call[];
  readonly world: readonly WorldLine[];
  readonly client: readonly ClientLine[];
  readonly blob: (sha: string) => string | undefined;
};

function load({ store, world, clientLog }: Parameters<typeof check>[0]): History {
  const database = new DatabaseSync(join(store, "ledger.db"), { readOnly: true, timeout: 5000 });
  try {
    const all = readRows(database);
    const rows = withoutPruned(all);
    return {
      storeId: readStoreId(database),
      rows,
      chains: Map.groupBy(all, (row) => row.session),
      calls: groupCalls(rows),
      world: existsSync(world) ? readLines<WorldLine>(world) : [],
      client: clientLog === undefined ? [] : readLines<ClientLine>(clientLog),
      blob: readBlobs(database),
    };
  } finally {
    database.close();
  }
}

/** All rows, in the order of the store. */
export function readRows(database: DatabaseSync): readonly Row[] {
  const rows = database.prepare("select pos, session, seq, epoch, at, type, v, body, prev, hash from events order by pos").all();
  if (rows.length === 0) throw new Error("The ledger holds no event: nothing was checked.");
  return rows.map((row) => ({ ...row, body: JSON.parse(String(row["body"])) }) as Row);
}

function readStoreId(database: DatabaseSync): string {
  const row = database.prepare("select value from meta where key = 'store'").get();
  if (row === undefined) throw new Error("The ledger names no store id: nothing can be verified.");
  return String(row["value"]);
}

function readBlobs(database: DatabaseSync): History["blob"] {
  const blobs = new Map<string, string>();
  for (const row of database.prepare("select sha, bytes from blobs").iterate()) {
    blobs.set(String(row["sha"]), Buffer.from(row["bytes"] as Uint8Array).toString("utf8"));
  }
  return (sha) => blobs.get(sha);
}

function readLines<T>(file: string): readonly T[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as T);
}

/** What a pruned session leaves on the shared chain has no counterpart any more. */
function withoutPruned(rows: readonly Row[]): readonly Row[] {
  const pruned = new Set(rows.filter((row) => row.type === "store.pruned").map((row) => row.body.session));
  return rows.filter((row) => row.session !== SHARED || row.type === "store.pruned" || !pruned.has(row.body.session));
}

/** Rows that name a call without being part of its life. */
const MENTIONS: readonly string[] = ["task.started", "notice.queued"];

function groupCalls(rows: readonly Row[]): readonly Call[] {
  const calls = new Map<string, { session: string; id: string; rows: [Row, ...Row[]] }>();
  for (const row of rows) {
    const session = row.session === SHARED ? row.body.session : row.session;
    const id = MENTIONS.includes(row.type) ? undefined : row.body.call;
    if (session === undefined || id === undefined) continue;
    const key = JSON.stringify([session, id]);
    const call = calls.get(key);
    if (call) call.rows.push(row);
    else calls.set(key, { session, id, rows: [row] });
  }
  return [...calls.values()];
}

/** I7 in one chain: it counts from 1 without a gap, each row carries the hash of the one before, epochs never fall. */
function* linked({ storeId }: History, rows: readonly Row[]): Iterable<Violation> {
  let last: Pick<Row, "seq" | "hash" | "epoch"> = { seq: 0, hash: ZEROS, epoch: 0 };
  for (const row of rows) {
    const { at, body, epoch, prev, seq, session, type, v } = row;
    const hash = sha256(canonical({ at, body, epoch, prev, seq, session, store: storeId, type, v }));
    if (seq !== last.seq + 1) yield violation("I7", row, `seq ${seq} follows ${last.seq}`);
    if (prev !== last.hash) yield violation("I7", row, `prev of seq ${seq} is not the hash of the row before`);
    if (hash !== row.hash) yield violation("I7", row, `hash of seq ${seq} does not fit its content`);
    if (epoch < last.epoch) yield violation("I7", row, `epoch falls from ${last.epoch} to ${epoch}`);
    last = row;
  }
}

/** I8, as far as calls show it: a turn's calls have places of their own, and the next turn begins when each of them has its result. */
function* inTurn({ calls }: History, rows: readonly Row[]): Iterable<Violation> {
  const open = new Map<string, number>();
  const places = new Set<string>();
  for (const row of rows) {
    const id = String(row.body.call);
    if (row.type === "call.ended") open.delete(id);
    if (row.type !== "call.proposed" || isNested(calls, row)) continue;
    const turn = Number(row.body.turn);
    const here = `place ${row.body.index} of turn ${turn}`;
    const orphan = [...open].find(([, its]) => its < turn);
    if (orphan) yield violation("I8", row, `turn ${turn} begins while call ${orphan[0]} of turn ${orphan[1]} has no result`);
    if (places.has(here)) yield violation("I8", row, `${here} is taken twice`);
    places.add(here);
    open.set(id, turn);
  }
}

/** Rows after which a task stands otherwise than before. */
const TASK_STANDS: readonly string[] = ["task.started", "task.cancelling", "task.paused", "task.resumed", "task.ended"];

/** I9 of tasks: each began once, and ended once, with the one notice that tells of it; or it is paused, where a person sees it. */
function* tasksEnded(rows: readonly Row[]): Iterable<Violation> {
  const life = rows.filter(({ type, body }) => type.startsWith("task.") && body.task !== undefined);
  for (const [task, own] of Map.groupBy(life, ({ body }) => body.task)) {
    const [first] = own as [Row];
    for (const message of taskFaults(rows, own)) yield violation("I9", first, `task ${task} ${message}`);
  }
}

function* taskFaults(rows: readonly Row[], own: readonly Row[]): Iterable<string> {
  const count = (type: string): number => own.filter((row) => row.type === type).length;
  const [starts, ends] = [count("task.started"), count("task.ended")];
  const task = own[0]?.body.task;
  const notices = rows.filter(({ type, body }) => type === "notice.queued" && body["kind"] === "task" && body.task === task).length;
  const last = own.findLast(({ type }) => TASK_STANDS.includes(type))?.type;
  if (starts !== 1) yield `was started ${starts} times`;
  if (ends > 1) yield `ended ${ends} times`;
  if (notices !== ends) yield `ended ${ends} times and has ${notices} notices of it`;
  if (ends === 0 && last !== "task.paused") yield `neither ended nor is paused: its last word is ${last}`;
  if (ends > 0 && last !== "task.ended") yield `has a ${last} after its end`;
}

/** I9 of notices: queued once, told or dropped at most once, and told together with the message that says it. */
function* noticesTold(rows: readonly Row[]): Iterable<Violation> {
  const queued = new Set<string>();
  const settled = new Set<string>();
  for (const [at, row] of rows.entries()) {
    if (row.type === "notice.queued") yield* queueNotice(queued, row);
    if (row.type === "notice.delivered" || row.type === "notice.dropped") yield* settleNotices(row, { queued, settled });
    if (row.type === "notice.delivered") yield* together(row, rows[at - 1]);
  }
}

function* queueNotice(queued: Set<string>, row: Row): Iterable<Violation> {
  const { notice = "" } = row.body;
  if (queued.has(notice)) yield violation("I9", row, `notice ${notice} is queued twice`);
  queued.add(notice);
}

type Notices = { readonly queued: ReadonlySet<string>; readonly settled: Set<string> };

function* settleNotices(row: Row, { queued, settled }: Notices): Iterable<Violation> {
  for (const id of row.body.ids ?? []) {
    if (!queued.has(id)) yield violation("I9", row, `${row.type} of notice ${id}, which was not queued`);
    if (settled.has(id)) yield violation("I9", row, `notice ${id} is told or dropped twice`);
    settled.add(id);
  }
}

function* together(row: Row, before: Row | undefined): Iterable<Violation> {
  if (before?.type === "message.user" && before.body.turn === row.body.turn) return;
  yield violation("I9", row, `notices are told in turn ${row.body.turn} without the message that tells them`);
}

/** A nested call is named after its parent; its result goes to the parent's body, not into the history. */
function isNested(calls: readonly Call[], { session, body }: Row): boolean {
  const parent = body.call?.replace(/\/[^/]*$/, "");
  return parent !== body.call && calls.some((call) => call.session === session && call.id === parent);
}

/** I1: proposed once and ended once, or at rest for a reason a person can see. I7: nothing follows the end. */
function* ended({ calls }: History, call: Call): Iterable<Violation> {
  const proposed = rowsOf(call, "call.proposed").length;
  const ends = rowsOf(call, "call.ended");
  const [first] = call.rows;
  if (proposed !== 1) yield violation("I1", first, `call ${call.id} was proposed ${proposed} times`);
  if (ends.length > 1) yield violation("I1", first, `call ${call.id} ended ${ends.length} times`);
  if (ends.length === 0 && !mayRest(call, calls))
    yield violation("I1", first, `call ${call.id} neither ended nor waits: it is ${stateOf(call)}`);
  const [end] = ends;
  const after = end && call.rows.find((row) => row.pos > end.pos);
  if (after) yield violation("I7", after, `${after.type} follows the end of call ${call.id}`);
}

/** A waiting call may rest; a judged or approved one only behind a call of its turn that waits. */
function mayRest(call: Call, calls: readonly Call[]): boolean {
  const state = stateOf(call);
  if (state === "waiting") return true;
  if (state !== "judged" && state !== "approved") return false;
  const mine = place(call);
  return calls.some((other) => {
    const its = place(other);
    return other.session === call.session && its.turn === mine.turn && its.index < mine.index && stateOf(other) === "waiting";
  });
}

function place(call: Call): { readonly turn: number; readonly index: number } {
  const body = rowsOf(call, "call.proposed")[0]?.body;
  return { turn: body?.turn ?? 0, index: body?.index ?? 0 };
}

/** What each row leaves a call in. A no, a close and a deny are not states to rest in. */
const STATE_AFTER: Readonly<Record<string, (body: Body, before: string) => string>> = {
  "call.judged": ({ verdict }, before) => (verdict === "deny" ? "denied" : before === "proposed" ? "judged" : before),
  "approval.opened": () => "waiting",
  "approval.answered": ({ outcome }) => String(outcome),
  "approval.closed": ({ outcome }) => `closed (${outcome})`,
  "call.answered": () => "approved",
  "call.claimed": () => "claimed",
  "call.ended": () => "ended",
};

function stateOf(call: Call): string {
  return call.rows.reduce((state, { type, body }) => STATE_AFTER[type]?.(body, state) ?? state, "proposed");
}

/** I2, I5, I6 on every intent: an earlier decision, a yes that stands if it asked, one fingerprint throughout, no change of policy between. */
function* claimed(history: History, call: Call): Iterable<Violation> {
  for (const claim of rowsOf(call, "call.claimed")) {
    const judged = rowsOf(call, "call.judged").findLast((row) => row.pos < claim.pos);
    if (judged) yield* decided(history, call, { judged, claim });
    else yield violation("I2", claim, `call ${call.id} is claimed without a decision`);
  }
}

type Intent = { readonly judged: Row; readonly claim: Row };

function* decided(history: History, call: Call, intent: Intent): Iterable<Violation> {
  const { judged, claim } = intent;
  const { answer, fingerprint } = claim.body;
  if (judged.body.verdict === "deny") yield violation("I2", claim, `call ${call.id} is claimed although it was denied`);
  if (fingerprint === undefined || fingerprint !== recompute(history, judged))
    yield violation("I5", claim, "the claimed fingerprint is not that of the input judged last");
  if (judged.body.verdict === "ask" && !answer) yield violation("I2", claim, `call ${call.id} asked and is claimed without a yes`);
  if (answer) yield* saidYes(history, call, { claim, pos: answer.pos });
  yield* samePolicy(history, intent);
}

/** I2 and I5 of a yes: it stands earlier, is for this call, was not taken back and covers what is claimed. */
function* saidYes(history: History, call: Call, { claim, pos }: { claim: Row; pos: number }): Iterable<Violation> {
  const yes = call.rows.find((row) => row.pos === pos && row.pos < claim.pos && isYes(row));
  if (!yes) {
    yield violation("I2", claim, `no yes to call ${call.id} stands at pos ${pos}`);
    return;
  }
  if ((yes.body.edited?.fingerprint ?? yes.body.fingerprint) !== claim.body.fingerprint)
    yield violation("I5", claim, `the yes at pos ${pos} covers another fingerprint than the one claimed`);
  const undone = history.rows.find((row) => row.pos > pos && row.pos < claim.pos && takesBack(row, yes, call));
  if (undone) yield violation("I2", claim, `the yes at pos ${pos} was taken back by ${undone.type} before the claim`);
}

function isYes({ type, body }: Row): boolean {
  return type === "call.answered" || (type === "approval.answered" && body.outcome === "approved");
}

function takesBack(row: Row, yes: Row, call: Call): boolean {
  if (row.type === "approval.closed") return row.body.approval === yes.body.approval;
  if (row.type === "approval.opened") return row.session === call.session && row.body.call === call.id;
  const { kind, id, name } = yes.body.by ?? {};
  return row.type === "grant.revoked" && kind === "grant" && row.body.grant === (id ?? name);
}

/** I6: the policy in force at the claim is the one judged under. */
function* samePolicy({ chains }: History, { judged, claim }: Intent): Iterable<Violation> {
  const newest = chains.get(claim.session)?.findLast((row) => row.type === "policy.changed" && row.pos < claim.pos);
  if (!newest) return;
  if (newest.pos > judged.pos) yield violation("I6", claim, "the policy changed between the last decision and the claim");
  else if (newest.body.revision !== judged.body.policy)
    yield violation("I6", claim, "the last decision was made under a policy no longer in force");
}

/** I4 on rows: a second intent is only ever the one retry that carries the key of the first. */
function* attempted(_history: History, call: Call): Iterable<Violation> {
  const [first, second, third] = rowsOf(call, "call.claimed");
  if (first && first.body.attempt !== 1)
    yield violation("I4", first, `the first intent of call ${call.id} is attempt ${first.body.attempt}`);
  if (first && second && !isKeyedRetry(first, second))
    yield violation("I4", second, `call ${call.id} was claimed again without the same key`);
  if (third) yield violation("I4", third, `call ${call.id} was claimed a third time`);
}

function isKeyedRetry(first: Row, second: Row): boolean {
  const key = first.body.idempotencyKey;
  return typeof key === "string" && second.body.idempotencyKey === key && second.body.attempt === 2;
}

/** I5 on decisions and approvals: a recorded fingerprint is that of the recorded input, and the one answered is the one shown. */
function* shown(history: History, call: Call): Iterable<Violation> {
  for (const row of call.rows) {
    const expected = EXPECTED_FINGERPRINT[row.type]?.(history, call, row);
    if (expected === undefined || row.body.fingerprint === expected.fingerprint) continue;
    yield violation("I5", row, `the fingerprint in ${row.type} is not that of ${expected.source}`);
  }
}

type Expected = { readonly fingerprint: string | undefined; readonly source: string };

const EXPECTED_FINGERPRINT: Readonly<Record<string, (history: History, call: Call, row: Row) => Expected | undefined>> = {
  "call.judged": (history, _call, row) =>
    row.body.fingerprint === undefined ? undefined : { fingerprint: recompute(history, row), source: "its own input" },
  "approval.opened": (history, call, row) => {
    const judged = rowsOf(call, "call.judged").findLast(({ pos }) => pos < row.pos);
    return { fingerprint: judged && recompute(history, judged), source: "the input judged last" };
  },
  "approval.answered": (_history, call, row) => {
    const opened = rowsOf(call, "approval.opened").findLast(({ pos }) => pos < row.pos);
    return { fingerprint: opened?.body.fingerprint, source: "the approval that was shown" };
  },
};

/** I3: one answer or close per revision of an approval; after a yes one more close, which takes it back. */
function* settledOnce({ rows }: History): Iterable<Violation> {
  const opened = new Set(rows.filter((row) => row.type === "approval.opened").map(approvalOf));
  for (const [approval, [first, second, third]] of Map.groupBy(rows.filter(isSettling), approvalOf)) {
    if (first && !opened.has(approval)) yield violation("I3", first, `${approval} is settled and was never opened`);
    if (first && second && !(isYes(first) && isWithdrawal(second))) yield violation("I3", second, `${approval} is settled twice`);
    if (third) yield violation("I3", third, `${approval} is settled a third time`);
  }
}

function isSettling({ type }: Row): boolean {
  return type === "approval.answered" || type === "approval.closed";
}

function approvalOf({ body }: Row): string {
  return `approval ${body.approval} revision ${body.revision}`;
}

function isWithdrawal({ type, body }: Row): boolean {
  return type === "approval.closed" && (body.outcome === "denied" || body.outcome === "cancelled");
}

/** I3: an answer is consumed by one call, in one attempt each. */
function* consumedOnce({ rows }: History): Iterable<Violation> {
  const uses = rows.filter((row) => row.type === "call.claimed" && row.body.answer);
  for (const [pos, [first, ...others]] of Map.groupBy(uses, (row) => row.body.answer?.pos)) {
    const again = others.find(
      ({ session, body }) => session !== first?.session || body.call !== first.body.call || body.attempt === first.body.attempt,
    );
    if (again) yield violation("I3", again, `the answer at pos ${pos} is consumed twice`);
  }
}

/** I2 and I4 in the world: each effect has its intent, each intent at most one effect, and a retry carries the same key. */
function* effects({ calls, world }: History): Iterable<Violation> {
  for (const [name, lines] of Map.groupBy(world, ({ session, call, attempt }) => JSON.stringify([session, call, attempt]))) {
    const [{ session, call: id, attempt, key }] = lines as [WorldLine];
    const call = calls.find((candidate) => candidate.session === session && candidate.id === id);
    const intended = call && rowsOf(call, "call.claimed").some((row) => row.body.attempt === attempt);
    const rekeyed = world.some((line) => line.session === session && line.call === id && line.key !== key);
    const at = { session, seq: call?.rows[0].seq ?? null };
    if (!intended) yield { invariant: "I2", ...at, message: `${name} had an effect without an intent` };
    if (lines.length > 1) yield { invariant: "I4", ...at, message: `${name} had ${lines.length} effects` };
    if (rekeyed) yield { invariant: "I4", ...at, message: `${name} and another attempt had effects under different keys` };
  }
}

/** I10: what a client was told stands in the store. */
function* promises(history: History): Iterable<Violation> {
  for (const line of history.client) {
    if (isKept(history, line)) continue;
    const message = `a client was told ${JSON.stringify(line)}, and no record says so`;
    yield { invariant: "I10", session: line.sessionId ?? SHARED, seq: null, message };
  }
}

/** That a call was not run because nothing could be recorded is true as long as it had no effect, whatever is on record. */
function isKept({ rows, calls, world }: History, { id, sessionId, callId, approvalId, outcome, type }: ClientLine): boolean {
  if (type === "store_unavailable") return !world.some(({ session, call }) => session === sessionId && call === callId);
  if (id?.startsWith("p_")) return rows.some((row) => row.type === `proposal.${outcome}` && row.body.proposal === id);
  if (id !== undefined) return rows.some((row) => isSettling(row) && row.body.approval === id && row.body.outcome === outcome);
  const told = calls.find((call) => call.session === sessionId && call.id === callId)?.rows ?? [];
  if (outcome === "waiting") return told.some((row) => row.type === "approval.opened" && row.body.approval === approvalId);
  return told.some((row) => row.type === "call.ended" && row.body.outcome === outcome);
}

function recompute(history: History, { body }: Row): string | undefined {
  const { tool, toolDigest, input, cwd, binds, containment } = body;
  const confined = containment === undefined ? {} : { containment };
  try {
    return sha256(canonical(resolve({ tool, toolDigest, input, cwd, binds, ...confined }, history.blob)));
  } catch {
    return undefined; // a blob is missing or damaged: no fingerprint fits
  }
}

/** Puts every blob back in its place: text, or a whole value where the reference says so. */
export function resolve(value: unknown, blob: (sha: string) => string | undefined): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, blob));
  if (typeof value !== "object" || value === null) return value;
  const { $blob: sha, json } = value as { readonly $blob?: unknown; readonly json?: unknown };
  if (typeof sha !== "string") return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, blob)]));
  const text = blob(sha);
  if (text === undefined || sha256(text) !== sha) throw new Error(`Blob ${sha} is missing or damaged.`);
  return json === true ? JSON.parse(text) : text;
}

/** RFC 8785 for values that came out of JSON: sorted keys, no white space, ECMAScript numbers and shortest escapes. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
}

/** In hex. */
export function sha256(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex");
}

function rowsOf(call: Call, type: string): readonly Row[] {
  return call.rows.filter((row) => row.type === type);
}

function violation(invariant: Violation["invariant"], { session, seq }: Row, message: string): Violation {
  return { invariant, session, seq, message };
}

if (import.meta.main) {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { "client-log": { type: "string" } } });
  const [store, world] = positionals;
  if (store === undefined || world === undefined) {
    console.error("usage: check.ts STORE_DIR WORLD_FILE [--client-log FILE]");
    process.exit(2);
  }
  const clientLog = values["client-log"];
  const report = check(clientLog === undefined ? { store, world } : { store, world, clientLog });
  console.log(JSON.stringify(report));
  process.exitCode = report.ok ? 0 : 1;
}

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { LedgerError } from "@assent/core";
import { claimedDraft, judgedDraft, proposedDraft } from "@assent/core/testing";
import { openLedger, verifyStore } from "@assent/store";
import { place } from "../../../packages/cli/test/support/assent.ts";
import { begin, readAll } from "../../../packages/store/test/made-store.ts";
import { lines, tokens } from "../mutate.ts";
import type { Random } from "../random.ts";
import { holds, type Target } from "../target.ts";

const CRASHED = "s_crashedcrashedcrash";
const FILE = "ledger.db";
const PAGE = 4_096;
/** One input in so many is also shown and resumed by the program itself, which takes longer. */
const PROGRAM_EVERY = 12;

const WORDS = [
  "flip",
  "set",
  "zero",
  "cut",
  "copy",
  "body",
  "hash",
  "forge",
  "lose",
  "double",
  "swap",
  "list",
  "version",
  "0",
  "1",
  "255",
  "4096",
  "100",
];

type Event = { readonly session: string; readonly seq: number; readonly type: string; readonly body: string };
type Scene = {
  readonly template: string;
  readonly at: ReturnType<typeof place>;
  readonly sessions: readonly string[];
  readonly storeId: string;
  /** By session and number, as they were written. */
  readonly events: ReadonlyMap<string, Event>;
  number: number;
};

/** The files of a store. An input is a list of damages, one on a line, done to a store with calls that ended, one that waits, and one that nobody knows of. */
export async function ledger(): Promise<Target> {
  const at = place();
  const template = realpathSync(mkdtempSync(join(tmpdir(), "assent-fuzz-")));
  await fill(at);
  copyFileSync(join(at.store, FILE), join(template, FILE));
  const rows = eventsOf(template);
  const events = new Map(rows.map((event) => [`${event.session} ${event.seq}`, event]));
  const storeId = String(JSON.parse(rows[0]?.body ?? "{}").store);
  const scene: Scene = { template, at, events, storeId, sessions: [...new Set(rows.map(({ session }) => session))], number: 0 };
  return {
    name: "ledger",
    iterations: 80,
    seeds: [],
    mutators: [lines(), tokens(WORDS), tokens(WORDS)],
    build: (random) => build(random, rows.length),
    check: (input) => check(scene, input.toString("utf8")),
    [Symbol.dispose]: () => {
      rmSync(template, { recursive: true, force: true });
      at[Symbol.dispose]();
    },
  };
}

/** The effects of the store's calls: a line each in the file `ran`. */
const EFFECT = "echo one >> ran";

async function fill(at: ReturnType<typeof place>): Promise<void> {
  at.write(
    "s.yaml",
    `turns:\n  - calls: [{ tool: shell, id: c1, input: { command: "${EFFECT}" } }, { tool: write, id: c2, input: { file_path: a.txt, content: "a\\n" } }]\n  - say: Done.\n`,
  );
  await at.here(["run", "go", "--model", "script:s.yaml", "--mode", "yolo"]);
  await at.here(["call", "shell", "--input", JSON.stringify({ command: "echo two >> ran" }), "--on-ask", "park"]);
  const store = await openLedger({ directory: at.store });
  const writer = await begin(store, CRASHED);
  await writer.append(proposedDraft("c1"), judgedDraft("c1"));
  await writer.claim(claimedDraft("c1"));
  await store.close();
}

function eventsOf(directory: string): readonly Event[] {
  const database = new DatabaseSync(join(directory, FILE), { readOnly: true });
  try {
    const rows = database.prepare("select session, seq, type, body from events order by pos").all();
    return rows.map(({ session, seq, type, body }) => ({
      session: String(session),
      seq: Number(seq),
      type: String(type),
      body: String(body),
    }));
  } finally {
    database.close();
  }
}

/** Mostly one damage: whatever is small is hardest to see. */
function build(random: Random, rows: number): string {
  const damages: readonly (() => string)[] = [
    () => `body ${1 + random.below(rows)} ${random.below(400)} ${1 + random.below(255)}`,
    () => `body ${1 + random.below(rows)} ${random.below(400)} ${1 << random.below(8)}`,
    () => `hash ${1 + random.below(rows)} ${random.below(64)}`,
    () => `flip ${random.below(300_000)} ${1 << random.below(8)}`,
    () => `flip ${random.below(PAGE)} ${1 << random.below(8)}`,
    () => `set ${random.below(300_000)} ${random.below(256)}`,
    () => `zero ${random.below(300_000)} ${1 + random.below(random.chance(0.5) ? 16 : PAGE)}`,
    () => `cut ${random.below(300_000)}`,
    () => `copy ${PAGE * random.below(60)} ${PAGE * random.below(60)} ${PAGE}`,
    () => `copy ${random.below(300_000)} ${random.below(300_000)} ${random.below(300)}`,
    () =>
      `forge ${1 + random.below(rows)} ${random.pick(["type", "at", "epoch", "v", "session", "prev", "call", "naming"])} ${random.pick(["x", "1", "0", "c1", "call.ended", "2030-01-01T00:00:00.000Z"])}`,
    () => `lose ${1 + random.below(rows)}`,
    () => `swap ${1 + random.below(rows)} ${1 + random.below(rows)}`,
    () => `list ${random.pick(["sessions", "approvals", "meta", "blobs", "snapshots"])} ${random.below(4)}`,
    () => `version ${random.below(5)}`,
  ];
  return Array.from({ length: random.chance(0.7) ? 1 : 1 + random.below(4) }, () => random.pick(damages)()).join("\n");
}

async function check(scene: Scene, input: string): Promise<void> {
  const { at, template } = scene;
  scene.number += 1;
  rmSync(at.store, { recursive: true, force: true });
  mkdirSync(at.store, { mode: 0o700 });
  copyFileSync(join(template, FILE), join(at.store, FILE));
  for (const line of input.split("\n").slice(0, 12)) damage(join(at.store, FILE), line);
  const damaged = readFileSync(join(at.store, FILE));
  await verified(scene);
  holds("looking changes nothing", damaged.equals(readFileSync(join(at.store, FILE))), () => "verify changed the file");
  await given(scene);
  if (scene.number % PROGRAM_EVERY === 0 || input.startsWith("program\n")) await program(scene);
}

/** Everything is as it was written, or verification says that it is not. */
async function verified({ at, events }: Scene): Promise<void> {
  const report = await named(() => verifyStore({ directory: at.store }));
  if (!report?.ok) return;
  const rows = new Map(eventsOf(at.store).map((event) => [`${event.session} ${event.seq}`, event]));
  for (const [key, event] of events)
    holds("a forged or shortened chain is not verified", isSame(rows.get(key), event), () => `${key}: ${JSON.stringify(rows.get(key))}`);
  holds("a longer chain is not verified", rows.size === events.size, () => `${rows.size} instead of ${events.size}`);
}

function isSame(one: Event | undefined, other: Event): boolean {
  return one !== undefined && one.type === other.type && one.body === other.body;
}

const LISTED = ["sessions", "approvals", "grants", "proposals", "questions"] as const;

/** A store that opens gives out what was written and nothing else. */
async function given({ at, events, sessions, storeId }: Scene): Promise<void> {
  const store = await named(() => openLedger({ directory: at.store }));
  if (!store) return;
  try {
    if (store.storeId !== storeId) return; // a file without anything in it is a new store
    for (const session of sessions) {
      const read = await named(() => readAll(store, { session, seq: 0 }));
      for (const { seq, type, body } of read ?? []) {
        const written = events.get(`${session} ${seq}`);
        const isOwn = written === undefined || (written.type === type && JSON.stringify(JSON.parse(written.body)) === JSON.stringify(body));
        holds(
          "a reader is given what was written",
          isOwn || "$blob" in JSON.parse(written.body),
          () => `${session} ${seq} ${type}: ${JSON.stringify(body)}`,
        );
      }
    }
    for (const list of LISTED) await named(() => store.pending(list, { all: true }));
  } finally {
    await named(() => store.close());
  }
}

/** What fails has one of the ledger's own names. */
async function named<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    holds("a failure says something", error.message.length > 10, () => error.message);
    return undefined;
  }
}

const EXITS: readonly (number | null)[] = [0, 1, 2, 4, 75, 130];

/** The commands of an overseer, and a resume of everything: nothing crashes, and nothing runs again. */
async function program({ at, sessions }: Scene): Promise<void> {
  writeFileSync(at.path("ran"), "one\n");
  const [own = ""] = sessions.filter((session) => session.startsWith("s_"));
  const commands = [
    ["verify"],
    ["sessions"],
    ["approvals"],
    ["log", own],
    ...sessions.map((session) => ["resume", session, "--on-ask", "deny"]),
  ];
  for (const argv of commands) {
    const { code, stderr, stdout } = await at.here([...argv, "--json"]);
    const told = (): string => `${argv.join(" ")} ended with ${code}: ${stderr} ${stdout.slice(0, 500)}`;
    holds("a command ends with an exit code of the list", EXITS.includes(code), told);
    const isNamed = !`${stdout}${stderr}`.includes("unhandled_exception") || stdout.includes("assent verify");
    holds("a command's failure has a name", isNamed && !stderr.includes("    at "), told);
  }
  const ran = existsSync(at.path("ran")) ? readFileSync(at.path("ran"), "utf8") : "";
  holds("no effect happens again", ran === "one\n", () => JSON.stringify(ran));
}

const numberOf = (text: string | undefined, bound: number): number => Math.abs(Number.parseInt(text ?? "", 10) || 0) % Math.max(1, bound);

/** Damages that a disk, a power cut or somebody with an editor could do; what is none is passed over. */
function damage(file: string, line: string): void {
  const [name = "", ...rest] = line.trim().split(/\s+/);
  const raw = RAW[name];
  if (raw) {
    const bytes = readFileSync(file);
    if (name === "cut") truncateSync(file, numberOf(rest[0], bytes.length));
    else writeFileSync(file, raw(bytes, rest));
    return;
  }
  const sql = SQL[name];
  if (!sql) return;
  try {
    const database = new DatabaseSync(file);
    try {
      sql(database, rest);
      database.exec("pragma wal_checkpoint(truncate)");
    } finally {
      database.close();
    }
  } catch {
    // an earlier damage is in the way
  }
}

const RAW: Readonly<Record<string, (bytes: Buffer, rest: readonly string[]) => Buffer>> = {
  cut: (bytes) => bytes,
  flip: (bytes, [at, mask]) => {
    const place = numberOf(at, bytes.length);
    bytes[place] = (bytes[place] ?? 0) ^ (numberOf(mask, 256) || 1);
    return bytes;
  },
  set: (bytes, [at, value]) => bytes.fill(numberOf(value, 256), numberOf(at, bytes.length), numberOf(at, bytes.length) + 1),
  zero: (bytes, [at, length]) =>
    bytes.fill(0, numberOf(at, bytes.length), Math.min(bytes.length, numberOf(at, bytes.length) + numberOf(length, 100_000))),
  copy: (bytes, [from, to, length]) => {
    const start = numberOf(from, bytes.length);
    bytes.copy(bytes, numberOf(to, bytes.length), start, start + numberOf(length, 100_000));
    return bytes;
  },
  double: (bytes) => Buffer.concat([bytes, bytes]),
};

const COLUMNS = ["type", "at", "epoch", "v", "session", "prev", "call", "naming", "seq"];
const LISTS = ["sessions", "approvals", "meta", "blobs", "snapshots", "grants"];

/** What somebody who knows SQL could do to single rows. */
const SQL: Readonly<Record<string, (database: DatabaseSync, rest: readonly string[]) => void>> = {
  body: (database, [row, at, mask]) => {
    const pos = posOf(database, row);
    const body = Buffer.from(String(database.prepare("select body from events where pos = ?").get(pos)?.["body"] ?? ""));
    const place = numberOf(at, body.length);
    body[place] = (body[place] ?? 0) ^ (numberOf(mask, 256) || 1);
    database.prepare("update events set body = cast(? as text) where pos = ?").run(body, pos);
  },
  hash: (database, [row, at]) => {
    const pos = posOf(database, row);
    const hash = String(database.prepare("select hash from events where pos = ?").get(pos)?.["hash"] ?? "");
    const place = numberOf(at, hash.length);
    const other = hash[place] === "0" ? "1" : "0";
    database.prepare("update events set hash = ? where pos = ?").run(hash.slice(0, place) + other + hash.slice(place + 1), pos);
  },
  forge: (database, [row, column = "", value = ""]) => {
    if (COLUMNS.includes(column)) database.prepare(`update events set ${column} = ? where pos = ?`).run(value, posOf(database, row));
  },
  lose: (database, [row]) => void database.prepare("delete from events where pos = ?").run(posOf(database, row)),
  swap: (database, [one, other]) => {
    const [a, b] = [posOf(database, one), posOf(database, other)];
    database.exec(
      `update events set pos = -1 where pos = ${a}; update events set pos = ${a} where pos = ${b}; update events set pos = ${b} where pos = -1`,
    );
  },
  list: (database, [table = "", row]) => {
    if (LISTS.includes(table))
      database.exec(`delete from ${table} where rowid in (select rowid from ${table} limit 1 offset ${numberOf(row, 100)})`);
  },
  version: (database, [version]) => database.exec(`pragma user_version = ${numberOf(version, 1000)}`),
};

function posOf(database: DatabaseSync, row: string | undefined): number {
  const count = Number(database.prepare("select count(*) as count from events").get()?.["count"] ?? 1);
  return Number(database.prepare("select pos from events order by pos limit 1 offset ?").get(numberOf(row, count))?.["pos"] ?? 1);
}

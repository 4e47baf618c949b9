import { existsSync, lstatSync, readFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { canonical, type Row, readRows, resolve, sha256 } from "./check.ts";

/**
 * What must be true of proposals when everything has come to rest, read from rows, contents and the files themselves; like the checker of calls it shares no code with the program.
 * P1: a proposal lives by its table, and no apply is left without an end. P2: every content an effect speaks of is kept, whole. P3: what was applied is what was shown.
 * P4: the call that applied says what the proposal says. P5: whatever a person asked for was done or refused. P6: the files are all at one end, unless the proposal says that nobody can tell.
 */
export type ProposalViolation = {
  readonly invariant: "P1" | "P2" | "P3" | "P4" | "P5" | "P6";
  readonly proposal: string;
  readonly message: string;
};

type Effect = {
  readonly path: string;
  readonly realPath: string;
  readonly op: string;
  readonly to?: string;
  readonly before: string;
  readonly after: string;
  readonly mode: number | null;
};

/** One proposal's rows in the order of the store, and what it was staged as. */
export type Life = {
  readonly id: string;
  readonly rows: readonly [Row, ...Row[]];
  readonly staged: Row;
  readonly effects: readonly Effect[];
  readonly state: string;
};

type Story = { readonly rows: readonly Row[]; readonly lives: readonly Life[]; readonly content: (sha: string) => Uint8Array | undefined };

/** Everything that is not as it must be. */
export function checkProposals(store: string): readonly ProposalViolation[] {
  const story = read(store);
  return story.lives.flatMap((life) => [lived, kept, shown, told, claimed, heeded, whole].flatMap((look) => [...look(life, story)]));
}

/** The proposals of a store, as its rows tell them; none where it is not made yet. */
export function lives(store: string): readonly Life[] {
  return isMade(store) ? read(store).lives : [];
}

function isMade(store: string): boolean {
  const file = join(store, "ledger.db");
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  try {
    return database.prepare("select 1 from sqlite_master where name = 'events'").get() !== undefined;
  } finally {
    database.close();
  }
}

function read(store: string): Story {
  const database = new DatabaseSync(join(store, "ledger.db"), { readOnly: true, timeout: 5000 });
  try {
    const rows = readRows(database);
    const contents = new Map<string, Uint8Array>();
    for (const row of database.prepare("select sha, bytes from blobs").iterate())
      contents.set(String(row["sha"]), row["bytes"] as Uint8Array);
    const text = (sha: string): string | undefined => {
      const bytes = contents.get(sha);
      return bytes && Buffer.from(bytes).toString("utf8");
    };
    const named = rows.filter((row) => row.body["proposal"] !== undefined && row.type.startsWith("proposal."));
    const grouped = Map.groupBy(named, (row) => String(row.body["proposal"]));
    return { rows, lives: [...grouped].map(([id, own]) => lifeOf(id, own, text)), content: (sha) => contents.get(sha) };
  } finally {
    database.close();
  }
}

function lifeOf(id: string, rows: readonly Row[], blob: (sha: string) => string | undefined): Life {
  const [staged] = rows;
  if (staged?.type !== "proposal.staged") throw new Error(`The first row of proposal ${id} is ${staged?.type}.`);
  const body = resolve(staged.body, blob) as Row["body"];
  const { effects } = body["manifest"] as { readonly effects: readonly Effect[] };
  const state = rows.reduce((at, row) => LEADS_TO[row.type] ?? at, "");
  return { id, rows: [staged, ...rows.slice(1)], staged: { ...staged, body }, effects, state };
}

/** Which state an event leaves a proposal in; every other event leaves it where it is. */
const LEADS_TO: Readonly<Record<string, string>> = {
  "proposal.staged": "staged",
  "proposal.applying": "applying",
  "proposal.applied": "applied",
  "proposal.apply_failed": "staged",
  "proposal.discarded": "discarded",
  "proposal.stale": "stale",
  "proposal.superseded": "superseded",
  "proposal.unknown": "unknown",
  "proposal.undone": "undone",
};

/** From where it may come. What changed is noticed before the claim or after it. */
const COMES_FROM: Readonly<Record<string, readonly string[]>> = {
  "proposal.staged": [""],
  "proposal.applying": ["staged"],
  "proposal.applied": ["applying"],
  "proposal.apply_failed": ["applying"],
  "proposal.discarded": ["staged"],
  "proposal.stale": ["staged", "applying"],
  "proposal.superseded": ["staged"],
  "proposal.unknown": ["applying"],
  "proposal.undone": ["applied"],
};

function* lived({ id, rows, state }: Life): Iterable<ProposalViolation> {
  let at = "";
  for (const { type } of rows) {
    if (COMES_FROM[type] && !COMES_FROM[type].includes(at)) yield violation("P1", id, `${type} while it is ${at || "nothing"}`);
    at = LEADS_TO[type] ?? at;
  }
  if (state === "applying") yield violation("P1", id, "its apply has no end");
}

function* kept({ id, staged, effects }: Life, { content }: Story): Iterable<ProposalViolation> {
  const named = staged.body["contents"] as readonly string[];
  for (const digest of new Set(effects.flatMap(({ before, after }) => [before, after]))) {
    const sha = digest.replace(/^sha256:/, "");
    const bytes = content(sha);
    if (digest === "absent") continue;
    if (!named.includes(sha)) yield violation("P2", id, `${digest} is not among its contents`);
    if (!bytes || sha256(bytes) !== sha) yield violation("P2", id, `${digest} is not kept as it was`);
  }
}

function* shown({ id, rows, staged, effects }: Life): Iterable<ProposalViolation> {
  const { tool, toolDigest, input, label } = staged.body;
  const files = effects.map(({ path, op, to, before, after, mode }) => ({
    path,
    op,
    ...(to !== undefined && { to }),
    before,
    after,
    mode,
  }));
  const digest = `sha256:${sha256(canonical({ tool, toolDigest, input, label, effects: files }))}`;
  if (staged.body["digest"] !== digest) yield violation("P3", id, "its digest is not that of what it shows");
  for (const row of rows)
    if (row.body["digest"] !== undefined && row.body["digest"] !== digest) yield violation("P3", id, `${row.type} is about another digest`);
}

/** How a call ends whose apply ended so. */
const ENDS_AS: Readonly<Record<string, readonly string[]>> = {
  "proposal.applied": ["succeeded"],
  "proposal.apply_failed": ["failed", "cancelled"],
  "proposal.stale": ["failed"],
  "proposal.unknown": ["unknown"],
};

function* told({ id, rows }: Life, story: Story): Iterable<ProposalViolation> {
  const marks = rows.filter(({ type }) => type === "proposal.applying" || ENDS_AS[type]);
  for (const [at, mark] of marks.entries()) {
    const call = mark.type === "proposal.applying" ? resolvingCall(mark) : undefined;
    if (call === undefined) continue;
    const end = endOf(story, mark.session, call);
    const own = marks[at + 1]?.type ?? "no end";
    if (!ENDS_AS[own]?.includes(String(end))) yield violation("P4", id, `${own}, and call ${call} ended ${end}`);
  }
}

/** A call that says that it applied did so. */
function* claimed({ id, rows }: Life, story: Story): Iterable<ProposalViolation> {
  for (const { session, body } of story.rows.filter((row) => isToApply(row, id))) {
    const did = rows.some((row) => row.type === "proposal.applying" && resolvingCall(row) === body.call);
    if (endOf(story, session, body.call) === "succeeded" && !did)
      yield violation("P4", id, `call ${body.call} says that it applied, and it did not`);
  }
}

function resolvingCall({ body }: Row): string | undefined {
  return (body["resolution"] as { readonly callId?: string }).callId;
}

function endOf({ rows }: Story, session: string, call: string | undefined): string | undefined {
  return rows.find((row) => row.session === session && row.type === "call.ended" && row.body.call === call)?.body.outcome;
}

/** A decision about a call that is to apply this very proposal. */
function isToApply({ type, body }: Row, id: string): boolean {
  const { proposal } = (body["binds"] ?? {}) as { readonly proposal?: string };
  return type === "call.judged" && proposal === id && (body["input"] as { readonly action?: string }).action === "apply";
}

const ANSWERS: readonly string[] = [...Object.keys(LEADS_TO).filter((type) => !/staged|applying/.test(type)), "proposal.refused"];

function* heeded({ id, rows }: Life): Iterable<ProposalViolation> {
  for (const wish of rows.filter(({ type }) => type === "proposal.requested")) {
    if (!rows.some(({ type, pos }) => pos > wish.pos && ANSWERS.includes(type)))
      yield violation("P5", id, `nobody did what was asked at ${wish.pos}`);
  }
}

/** How many files stand at which end. One that is the same at both counts for neither. */
export function standings({ effects }: Life): {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly other: readonly string[];
} {
  const places = effects.flatMap(({ realPath, to, before, after }) =>
    to === undefined
      ? [{ path: realPath, before, after }]
      : [
          { path: realPath, before, after: "absent" },
          { path: to, before: "absent", after },
        ],
  );
  const found = Map.groupBy(places, ({ path, before, after }) => {
    const now = digestAt(path);
    if (before === after && now === before) return "both";
    return now === before ? "before" : now === after ? "after" : "other";
  });
  const paths = (at: string): readonly string[] => (found.get(at as never) ?? []).map(({ path }) => path);
  return { before: paths("before"), after: paths("after"), other: paths("other") };
}

function digestAt(path: string): string {
  const stats = statsAt(path);
  if (!stats) return "absent";
  return stats.isFile() ? `sha256:${sha256(readFileSync(path))}` : "no file";
}

/** Undefined: nothing stands there, or nothing can. */
function statsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** At which end the files are while the proposal says this of itself. What somebody else has changed since says nothing. */
const AT: Readonly<Record<string, "before" | "after">> = { staged: "before", discarded: "before", undone: "before", applied: "after" };

function* whole(life: Life, { lives: all }: Story): Iterable<ProposalViolation> {
  const { id, state } = life;
  const { before, after } = standings(life);
  const wrong = AT[state] === "before" ? after : AT[state] === "after" ? before : [];
  if (wrong.length === 0 || all.some((other) => other !== life && shares(life, other))) return;
  yield violation("P6", id, `it is ${state}, and these are not: ${wrong.join(", ")}`);
}

/** The other was applied at some time, and both touch one file. */
function shares(one: Life, other: Life): boolean {
  return other.rows.some(({ type }) => type === "proposal.applied") && overlaps(one, other);
}

/** Both touch one file. */
export function overlaps(one: Life, other: Life): boolean {
  const paths = new Set(pathsOf(one));
  return pathsOf(other).some((path) => paths.has(path));
}

function pathsOf({ effects }: Life): readonly string[] {
  return effects.flatMap(({ realPath, to }) => (to === undefined ? [realPath] : [realPath, to]));
}

function violation(invariant: ProposalViolation["invariant"], proposal: string, message: string): ProposalViolation {
  return { invariant, proposal, message };
}

if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [store] = positionals;
  if (store === undefined) {
    console.error("usage: check-proposals.ts STORE_DIR");
    process.exit(2);
  }
  const violations = checkProposals(store);
  console.log(JSON.stringify({ ok: violations.length === 0, violations }));
  process.exitCode = violations.length === 0 ? 0 : 1;
}

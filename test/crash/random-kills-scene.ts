import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Row, readRows } from "./check.ts";
import type { Failpoint, Failpoints } from "./failpoints.ts";
import { makeScene, type Ran, type Scene } from "./scene.ts";
import type { SceneStore } from "./stores.ts";

/** The session that is killed: what it is asked to do, and the command that begins it. */
export type Story = { readonly scene: Scene; readonly command: readonly string[] };

const NAMES = ["one", "two", "three", "four"] as const;
const SOURCE = "export const a = oldName(1);\nexport const b = oldName(2);\n";
const RENAMED = SOURCE.replaceAll("oldName", "newName");

const call = (tool: string, id: string, input: object = {}): object => ({ tool, id, input });
const read = (name: string, id: string): object => call("read", id, { file_path: `${name}.txt` });
const edit = (name: string): object => call("edit", `e_${name}`, { file_path: `${name}.txt`, old_string: "before", new_string: "after" });

/** More last words than reminders of what is pending: with them the run comes to its end wherever it was cut. */
const LAST_WORDS = Array.from({ length: 10 }, () => ({ say: "done" }));

function turns(appended: string): readonly object[] {
  const append = (id: string): object => call("shell", id, { command: `echo ${id} >> '${appended}'` });
  const rename = (id: string, from: string, to: string): object =>
    call("ast_edit", id, { ops: [{ pat: `${from}($$$A)`, out: `${to}($$$A)` }], paths: ["code.ts"] });
  const resolve = (id: string, action: string): object => ({ calls: [call("resolve", id, { action, reason: "as wanted" })] });
  return [
    { say: "I look.", calls: NAMES.map((name) => read(name, `r_${name}`)) },
    { calls: [edit("one")] },
    { calls: [append("s_first"), read("two", "r_again")] },
    { calls: [rename("x_rename", "oldName", "newName")] },
    resolve("v_apply", "apply"),
    { calls: [read("three", "r_more"), call("world", "w_plain"), append("s_second"), call("look", "w_look")] },
    { calls: [edit("two"), edit("three")] },
    { say: "Now I ask.", calls: [append("s_asked")] },
    { calls: [rename("x_back", "newName", "oldName")] },
    resolve("v_discard", "discard"),
    { calls: [call("probed", "w_probed"), append("s_third"), call("keyed", "w_keyed"), edit("four")] },
    { calls: [call("write", "e_new", { file_path: "new.txt", content: "after\n" }), append("s_last")] },
    ...LAST_WORDS,
  ];
}

/** How many calls the model makes when nobody disturbs it. */
export const CALLS: number = turns("").reduce((sum: number, turn) => sum + ("calls" in turn ? (turn.calls as unknown[]).length : 0), 0);

/** Lays out the workspace. One of the calls asks, whatever the mode; the others pass. */
export function makeStory(store?: SceneStore): Story {
  const scene = makeScene(store);
  for (const name of NAMES) writeFileSync(scene.path(`${name}.txt`), "before\n");
  writeFileSync(scene.path("code.ts"), SOURCE);
  const script = join(scene.root, "script.json");
  writeFileSync(script, JSON.stringify({ turns: turns(appendedTo(scene)), allowUnused: true }));
  const flags = ["--mode", "yolo", "--ask", "shell:command=*s_asked*", "--on-ask", "park", "--json"];
  return { scene, command: ["run", "do all of it", "--model", `script:${script}`, ...flags] };
}

/** The same story where the run is parked and its question answered: the command takes it up. */
export async function parkedStory(store?: SceneStore): Promise<Story> {
  const { scene, command } = makeStory(store);
  const { code, stdout, stderr } = await scene.here(command);
  assert.equal(code, 75, stdout + stderr);
  await answerAll(scene);
  return { scene, command: ["resume", await onlySession(scene), "--json"] };
}

function appendedTo({ root }: Scene): string {
  return join(root, "appended.log");
}

/** How often each point is met by a run that nobody kills, and by the resume after it was parked. */
export type Survey = { readonly run: ReadonlyMap<Failpoint, number>; readonly resume: ReadonlyMap<Failpoint, number> };

/** Counts the points of a whole story, and sees that it comes out right. */
export async function survey(store?: SceneStore): Promise<Survey> {
  const { scene, command } = makeStory(store);
  using _closed = scene;
  const [run, resume] = [counting(), counting()];
  const first = await scene.here(command, run);
  assert.equal(first.code, 75, first.stdout + first.stderr);
  await answerAll(scene);
  const second = await scene.here(["resume", await onlySession(scene), "--json"], resume);
  assert.equal(second.code, 0, second.stdout + second.stderr);
  await cameOutRight(scene);
  assert.deepEqual([(await scene.ended()).length, (await scene.ended()).filter(({ outcome }) => outcome !== "succeeded")], [CALLS, []]);
  return { run: run.counts, resume: resume.counts };
}

function counting(): Failpoints & { readonly counts: Map<Failpoint, number> } {
  const counts = new Map<Failpoint, number>();
  return { counts, isArmed: () => false, hit: (name) => void counts.set(name, (counts.get(name) ?? 0) + 1) };
}

/** The one session of a scene. */
export async function onlySession(scene: Scene): Promise<string> {
  const [session]: readonly { readonly id: string }[] = await scene.json(["sessions"]);
  assert.ok(session);
  return session.id;
}

async function answerAll(scene: Scene): Promise<void> {
  const waiting: readonly { readonly id: string }[] = await scene.json(["approvals"]);
  for (const { id } of waiting) await scene.json([id.startsWith("p_") ? "discard" : "approve", id]);
}

/** Where processes are killed, one after the other: the run, then whatever takes it up. */
export type Kills = readonly [run: string, ...resumes: readonly string[]];

const AT_REST: readonly string[] = ["done", "failed", "cancelled"];
const PATIENCE = 12;

/** Kills the run and those that take it up; from then on nobody is killed until it is over. Returns how many kills took place: a point may never be met. */
export async function killAndFinish(story: Story, kills: Kills): Promise<number> {
  const [first, ...rest] = kills;
  const killed = wasKilled(await story.scene.child(story.command, { failpoint: first }), first);
  return killed + (await finish(story, rest));
}

/** Takes the story up again and again until it is over; those who do so first are killed. Returns how many were. */
export async function finish({ scene, command }: Story, kills: readonly string[] = []): Promise<number> {
  let killed = 0;
  for (let round = 0; round < PATIENCE; round += 1) {
    const [session]: readonly { readonly id: string; readonly state: string }[] = await scene.json(["sessions"]);
    if (!session) {
      await scene.here(command); // killed before there was a session: nothing is known of it
      continue;
    }
    await answerAll(scene);
    if (AT_REST.includes(session.state)) return killed;
    const failpoint = kills[round];
    const argv = ["resume", session.id, "--json"];
    killed += wasKilled(await (failpoint === undefined ? scene.here(argv) : scene.child(argv, { failpoint })), failpoint);
  }
  throw new Error(`no rest: ${JSON.stringify(await scene.json(["sessions"]))}`);
}

function wasKilled({ code, signal, stdout, stderr }: Ran, failpoint: string | undefined): number {
  if (signal === "SIGKILL") return 1;
  assert.ok(code === 0 || code === 75, `${failpoint}: exit ${code}, ${stdout}${stderr}`);
  return 0;
}

/** Every invariant, read from outside, and every effect against what the record says of its call. */
export async function cameOutRight(scene: Scene): Promise<void> {
  await scene.holds();
  const rows = await rowsOf(scene);
  for (const outcome of endsOf(rows)) honestlyUnknown(rows, outcome);
  const ends = new Map(endsOf(rows).map(({ body }) => [String(body.call), String(body.outcome)]));
  appendedOnce(scene, { rows, ends });
  for (const [name, id] of [...NAMES.map((name) => [name, `e_${name}`]), ["new", "e_new"]])
    fileAsTold(scene.path(`${name}.txt`), ends.get(id ?? ""));
  const code = readFileSync(scene.path("code.ts"), "utf8");
  assert.equal(code === RENAMED, ends.get("v_apply") === "succeeded", `code.ts, and the apply ended ${ends.get("v_apply")}`);
  assert.ok(code === RENAMED || code === SOURCE, code);
}

async function rowsOf({ readable }: Scene): Promise<readonly Row[]> {
  const database = new DatabaseSync(join((await readable()) ?? "", "ledger.db"), { readOnly: true, timeout: 5000 });
  try {
    return readRows(database);
  } finally {
    database.close();
  }
}

function endsOf(rows: readonly Row[]): readonly Row[] {
  return rows.filter(({ type }) => type === "call.ended");
}

/** A call is unknown only where one process claimed it, and another one, later, found no end of it. */
function honestlyUnknown(rows: readonly Row[], end: Row): void {
  if (end.body.outcome !== "unknown") return;
  const claim = rows.find(({ type, body, pos }) => type === "call.claimed" && body.call === end.body.call && pos < end.pos);
  assert.ok(claim && claim.epoch < end.epoch, `${end.body.call} is unknown, though nobody was killed in it`);
}

/** What the shell commands of the story wrote. */
export function appendedLines(scene: Scene): readonly string[] {
  const file = appendedTo(scene);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

type Told = { readonly rows: readonly Row[]; readonly ends: ReadonlyMap<string, string> };

/** Each line has its claimed call; a success is one line, and only `unknown` may be either. */
function appendedOnce(scene: Scene, { rows, ends }: Told): void {
  const lines = [...appendedLines(scene), ...scene.lines().map((line) => line.call)];
  const claimed = new Set(rows.filter(({ type }) => type === "call.claimed").map(({ body }) => body.call));
  assert.deepEqual(
    lines.filter((line) => !claimed.has(line)),
    [],
    "appended by calls that nobody claimed",
  );
  for (const [id, outcome] of ends) {
    const count = lines.filter((line) => line === id).length;
    const right = APPENDS.test(id) ? (LINES_OF[outcome] ?? [0]) : [0];
    assert.ok(right.includes(count), `${id} ended ${outcome} and was appended ${count} times`);
  }
}

/** Calls whose effect is a line: those of the shell, and those of the tests' own tools. */
const APPENDS = /^[sw]_/;
const LINES_OF: Readonly<Record<string, readonly number[]>> = { succeeded: [1], unknown: [0, 1] };

/** Changes of files are never in doubt: their digests tell what was done. */
function fileAsTold(path: string, outcome: string | undefined): void {
  const changed = existsSync(path) && readFileSync(path, "utf8") === "after\n";
  assert.equal(changed, outcome === "succeeded", `${path} is ${changed ? "" : "not "}changed, and its call ended ${outcome}`);
}

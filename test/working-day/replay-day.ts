import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { BIN, type Place, place } from "../../packages/cli/test/support/assent.ts";
import { say } from "../../packages/cli/test/tui/support/conversation.ts";
import { openScreen, type Screen } from "../../packages/cli/test/tui/support/screen.ts";
import { DAY, type DayTask, PROJECT } from "./day.ts";

/** How the person answers: each call once, with the rule that is offered for the session, or with a wider rule where one is offered. */
export type Person = "once" | "always" | "wider";

const LETTERS: Readonly<Record<Person, readonly string[]>> = { once: [], always: ["s"], wider: ["w", "s"] };

/** How the day is replayed. */
export type DaySetup = {
  /** Settings of the person; without them, those that Assent has by itself. */
  readonly settings?: object;
  /** More arguments, such as `--mode auto-edit`. */
  readonly args?: readonly string[];
  readonly person?: Person;
  /** Another checkout of Assent. */
  readonly checkout?: string;
  readonly tasks?: readonly DayTask[];
};

/** What a day came to. */
export type DayReport = {
  readonly calls: number;
  /** How often the person was asked. */
  readonly questions: number;
  readonly byTool: Readonly<Record<string, number>>;
  /** How each call ended, as far as it did not succeed. */
  readonly others: readonly string[];
};

const READY = "script:";
const DEADLINE_MS = 60_000;

/** Replays a working day on a terminal, answers every question, and counts them in the record. */
export async function replayDay(setup: DaySetup = {}): Promise<DayReport> {
  using at = place();
  const { settings, args = [], tasks = DAY, person = "once", checkout } = setup;
  prepareProject(at);
  const turns = tasks.flatMap((task) => task.turns);
  writeFileSync(join(at.root, "script.json"), JSON.stringify({ turns, allowUnused: true }));
  if (settings) writeFileSync(join(at.root, "settings.json"), JSON.stringify({ version: 1, ...settings }));
  const bin = checkout === undefined ? BIN : resolve(checkout, "packages/cli/bin/assent.js");
  const given = [...args, ...(settings ? ["--policy", "../settings.json"] : []), "--model", "script:../script.json"];
  using screen = openScreen({ cwd: at.workspace, env: at.env, program: [bin, ...given], columns: 120, rows: 50 });
  await screen.until(READY);
  const answered = new Set<string>();
  for (const task of tasks) await workOn(screen, task, { person, answered });
  screen.press("ctrl+d");
  await screen.exit();
  const report = await countQuestions(at, bin);
  if (report.questions !== answered.size) throw new Error(`${answered.size} cards were answered, but ${report.questions} are on record`);
  return report;
}

function prepareProject(at: Place): void {
  for (const [name, text] of Object.entries(PROJECT)) {
    mkdirSync(dirname(at.path(name)), { recursive: true });
    writeFileSync(at.path(name), text);
  }
  const remote = join(at.root, "remote.git");
  const run = (...argv: readonly string[]): void => {
    const { status, stderr } = spawnSync("git", argv, { cwd: at.workspace, env: at.env, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${argv.join(" ")}: ${stderr}`);
  };
  run("init", "-q", "--bare", remote);
  run("init", "-q", "-b", "main");
  run("config", "user.name", "Ada");
  run("config", "user.email", "ada@example.org");
  run("remote", "add", "origin", remote);
  run("add", "-A");
  run("commit", "-qm", "Start");
}

type Answering = { readonly person: Person; readonly answered: Set<string> };

const CARD = /^(?:Approval needed:|Apply this change\?) .* {2}((?:a|p)_\w+)$/m;

/** Answers cards until the model says that the task is done. */
async function workOn(screen: Screen, { prompt, done }: DayTask, { person, answered }: Answering): Promise<void> {
  await say(screen, prompt);
  const openCard = (now: string): string | undefined => {
    const id = CARD.exec(now)?.[1];
    return id !== undefined && !answered.has(id) ? id : undefined;
  };
  const isIdle = (now: string): boolean => now.includes(done) && now.includes("? keys") && !now.includes("» working");
  for (;;) {
    const now = await screen.until((shown) => openCard(shown) !== undefined || isIdle(shown), DEADLINE_MS);
    const id = openCard(now);
    if (id === undefined) return;
    await screen.read(id);
    await readToEnd(screen);
    const shown = screen.lines().join("\n");
    const letter = LETTERS[person].find((each) => new RegExp(`^ {2}${each} {2}Always allow`, "m").test(shown)) ?? "y";
    screen.press(letter);
    await screen.until(new RegExp(`^> ${letter} `, "m"));
    answered.add(id);
    screen.press("enter");
  }
}

async function readToEnd(screen: Screen): Promise<void> {
  for (let now = screen.lines().join("\n"); / more lines?: /.test(now); ) {
    const before = now;
    screen.press("pageDown");
    now = await screen.until((next) => next !== before);
  }
}

type Recorded = { readonly type: string; readonly body: { readonly [key: string]: unknown } };

async function countQuestions(at: Place, bin: string): Promise<DayReport> {
  const { stdout } = await at.run(["log", "--json"], { entry: [bin] });
  const events = stdout
    .split("\n")
    .filter(Boolean)
    .map((line): Recorded => JSON.parse(line));
  const of = (type: string): readonly Recorded[] => events.filter((event) => event.type === type);
  const tools = new Map(of("call.proposed").map(({ body }) => [body["call"], String(body["tool"])]));
  const asked = new Map(of("approval.opened").map(({ body }) => [body["approval"], tools.get(body["call"]) ?? "?"]));
  const byTool: Record<string, number> = {};
  for (const tool of asked.values()) byTool[tool] = (byTool[tool] ?? 0) + 1;
  const others = of("call.ended")
    .filter(({ body }) => body["outcome"] !== "succeeded")
    .map(({ body }) => `${tools.get(body["call"])} ${String(body["outcome"])} ${String(body["type"])}`);
  return { calls: tools.size, questions: asked.size, byTool, others };
}

import { setImmediate as turn } from "node:timers/promises";
import { displayWidth, type OpenApproval } from "@assent/core";
import { type ManualClock, manualClock, sampleApproval } from "@assent/core/testing";
import { askQuestioner } from "../../../packages/cli/src/tui/ask/questioner.ts";
import { cardApprover } from "../../../packages/cli/src/tui/cards/approver.ts";
import { approvalDiff, cardBody } from "../../../packages/cli/src/tui/cards/body.ts";
import { UNREAD } from "../../../packages/cli/src/tui/cards/reading.ts";
import { type CardStack, createCardStack } from "../../../packages/cli/src/tui/cards/stack.ts";
import { SPLIT_COLUMNS } from "../../../packages/cli/src/tui/diff/draw.ts";
import type { Canvas, Key } from "../../../packages/cli/src/tui/draw/dialog.ts";
import { makeTheme } from "../../../packages/cli/src/tui/draw/theme.ts";
import { readKey } from "../../../packages/cli/src/tui/input/read-key.ts";
import { KEY_NAMES, keyBytes } from "../../../packages/cli/test/tui/support/key-bytes.ts";
import { SCENES, type Scene } from "../../../packages/cli/test/tui/support/scenes.ts";
import { lines, tokens } from "../mutate.ts";
import type { Random } from "../random.ts";
import { holds, type Target } from "../target.ts";

const CARDS = Object.keys(SCENES).filter((name) => name !== "huge" && name !== "line");
const THEME = makeTheme("none");
const GRACE_MS = 300;
/** Below this the desk does not promise to fit. */
const NARROWEST = 40;
const MOST_STEPS = 150;

const STEPS = [
  ...CARDS.map((name) => `card ${name}`),
  ...["80 24", "40 12", "160 50", "24 6", "100 9", "30 60"].map((size) => `size ${size}`),
  ...["paint", "paint", "wait 300", "wait 299", "wait 5000", "turn", "withdraw", "text a\\nb", 'paste "y\\n"'],
  ...[...KEY_NAMES, ..."ysptuneaxhbfq1 ".split(""), "ctrl+c", "ctrl+n"].map((name) => `press ${name === " " ? "space" : name}`),
  ...[
    "\u001b[200~y\r\u001b[201~",
    "\u001b[121;1:3u",
    "\u001b[121u",
    "\u001b[13;1:1u",
    "\u001b[<0;1;1M",
    "y\r",
    "\u001bOA",
    "\u001b[1;5A",
  ].map((data) => `bytes ${JSON.stringify(data)}`),
];

/** Keys at a desk with cards and questions. An input is a list of steps, one on a line; what is no step is passed over. */
export function keys(): Target {
  return {
    name: "keys",
    iterations: 300,
    seeds: [],
    mutators: [lines(STEPS), lines(STEPS), lines(STEPS), tokens(["0", "1", "7", "19", "200", "\\u001b", "漢"])],
    build,
    check,
    [Symbol.dispose]: () => undefined,
  };
}

/** Somebody who sometimes reads, and sometimes is too fast. */
function build(random: Random): string {
  const steps = [`card ${random.pick(CARDS)}`, `size ${NARROWEST + random.below(130)} ${3 + random.below(50)}`];
  for (let count = random.below(60); count > 0; count -= 1) {
    if (random.chance(0.4)) steps.push("paint");
    steps.push(
      random.chance(0.3)
        ? random.pick(["wait 400", "press pageDown", "press y", "press enter", "press y", "press enter"])
        : random.pick(STEPS),
    );
  }
  return steps.join("\n");
}

/** What a person at the desk could have seen, kept beside the desk and without it. */
type Watched = {
  readonly clock: ManualClock;
  readonly desk: CardStack;
  canvas: Canvas;
  /** What stood in front when the screen was drawn, and since when. */
  front: { readonly id: string; readonly since: number } | undefined;
  /** For each card and width, the lines that were on the screen. */
  readonly seen: Map<string, Set<string>>;
  readonly answers: { readonly approval: OpenApproval; readonly outcome: string }[];
  readonly withdraw: Map<string, AbortController>;
  cards: number;
};

async function check(input: Buffer): Promise<void> {
  const clock = manualClock();
  const desk = createCardStack({ clock, changed: () => undefined });
  const watched: Watched = {
    ...{ clock, desk, front: undefined, seen: new Map(), answers: [], withdraw: new Map(), cards: 0 },
    canvas: { columns: 80, rows: 24, theme: THEME },
  };
  for (const line of input.toString("utf8").split("\n").slice(0, MOST_STEPS)) await step(watched, line);
  for (const one of watched.withdraw.values()) one.abort();
  await turn();
}

async function step(watched: Watched, line: string): Promise<void> {
  const [name = "", rest = ""] = line.split(/ (.*)/s);
  const { desk, clock } = watched;
  const answered = watched.answers.length;
  let pressed: Key | undefined;
  if (name === "card") put(watched, rest);
  else if (name === "text") put(watched, "text", rest);
  else if (name === "size") resize(watched, rest);
  else if (name === "paint") paint(watched);
  else if (name === "wait") await clock.advance(Math.min(100_000, Math.abs(Number.parseInt(rest, 10) || 0)));
  else if (name === "turn") desk.turn();
  else if (name === "withdraw") watched.withdraw.get(desk.front()?.id ?? "")?.abort();
  else pressed = keyOf(name, rest);
  if (pressed) desk.key(pressed, watched.canvas);
  fits(watched);
  await turn();
  for (const answer of watched.answers.slice(answered)) wasRead(watched, answer, pressed);
}

function keyOf(name: string, rest: string): Key | undefined {
  if (name === "paste") return { pasted: textOf(rest) };
  if (name === "bytes") return readKey(textOf(rest));
  if (name !== "press" || rest === "") return undefined;
  return KEY_NAMES.includes(rest) ? readKey(keyBytes(rest)) : { name: rest };
}

function textOf(rest: string): string {
  try {
    return String(JSON.parse(rest));
  } catch {
    return rest;
  }
}

function resize(watched: Watched, rest: string): void {
  const [columns = 80, rows = 24] = rest.split(" ").map((part) => Math.abs(Number.parseInt(part, 10)) || 1);
  watched.canvas = { columns: Math.min(300, Math.max(NARROWEST, columns)), rows: Math.min(200, rows), theme: THEME };
}

const BY = { kind: "person", user: "u", name: "U", door: "tui", pid: 1 } as const;

/** Every card has an id of its own. */
function put(watched: Watched, name: string, text?: string): void {
  const { desk, clock } = watched;
  watched.cards += 1;
  const id = `a_${watched.cards}`;
  const scene = text === undefined ? (Object.hasOwn(SCENES, name) ? SCENES[name] : undefined) : written(text);
  if (!scene || watched.cards > 8) return;
  const until = new AbortController();
  watched.withdraw.set(id, until);
  if ("question" in scene) {
    const questioner = askQuestioner({ stack: desk, clock, by: BY, notify: () => undefined });
    void questioner.ask({ ...scene.question, id }, until.signal, () => undefined);
    return;
  }
  const approval = { ...scene.approval, id };
  const approver = cardApprover({ stack: desk, by: BY });
  void approver.ask(approval, until.signal).then((answer) => answer && watched.answers.push({ approval, outcome: answer.outcome }));
}

function written(text: string): Scene {
  const command = textOf(text);
  const details = { type: "exec", command, rootCommand: command } as const;
  return {
    approval: sampleApproval({
      tool: "shell",
      title: command,
      cwd: command,
      input: { command },
      details,
      suggestions: [`Shell(${command})`],
    }),
  };
}

/** A terminal shows no more rows than it has, and of those the last. */
function paint(watched: Watched): void {
  const { desk, canvas, seen, clock } = watched;
  const id = desk.front()?.id;
  if (id !== undefined) {
    const key = `${id} ${canvas.columns}`;
    const lines = seen.get(key) ?? new Set();
    for (const line of desk.view(canvas).slice(-canvas.rows)) lines.add(line);
    seen.set(key, lines);
    if (watched.front?.id !== id) watched.front = { id, since: clock.now() };
  }
  desk.painted(canvas);
}

function fits({ desk, canvas }: Watched): void {
  for (const line of desk.view(canvas)) {
    holds("no line is wider than the screen", displayWidth(line) <= canvas.columns, () => `${canvas.columns}: ${JSON.stringify(line)}`);
    holds("no line has a character that a terminal acts on or nobody sees", !/[\p{Cc}\p{Cf}]/u.test(line), () => JSON.stringify(line));
  }
}

/** A yes is Enter, on a card that has been on the screen for a while, every piece of it at one width. */
function wasRead(watched: Watched, { approval, outcome }: Watched["answers"][number], pressed: Key | undefined): void {
  const { seen, front, clock } = watched;
  holds(
    "only Enter answers",
    pressed !== undefined && "name" in pressed && pressed.name === "enter",
    () => `${JSON.stringify(pressed)} made ${outcome}`,
  );
  holds(
    "only a card that was painted, and a while ago, is answered",
    front?.id === approval.id && clock.now() - front.since >= GRACE_MS,
    () => JSON.stringify(front),
  );
  if (outcome !== "approve") return;
  const widths = [...seen.keys()].filter((key) => key.startsWith(`${approval.id} `)).map((key) => Number(key.split(" ")[1]));
  const missing = [true, false].map((split) => {
    const layout = widths.filter((columns) => columns >= SPLIT_COLUMNS === split);
    return firstMissing(watched, approval, layout);
  });
  const missed = missing.includes(undefined) ? undefined : (missing.find((line) => line !== "anything") ?? "anything");
  holds("a yes is for what was shown in full", missed === undefined, () => `never shown: ${JSON.stringify(missed)}`);
}

/** A piece counts if all its rows were on the screen at one of these widths, which share a layout. */
function firstMissing({ seen, canvas }: Watched, approval: OpenApproval, widths: readonly number[]): string | undefined {
  const [first] = widths;
  if (first === undefined) return "anything";
  const body = cardBody(approval, approvalDiff(approval));
  for (let piece = 0; piece < body(UNREAD, first).count; piece += 1) {
    const absent = widths.map((columns) => {
      const shown = seen.get(`${approval.id} ${columns}`) ?? new Set();
      const rows = body(UNREAD, columns).draw(piece, { ...canvas, columns });
      return rows.find((line) => !shown.has(line) && !line.includes("@@"));
    });
    if (!absent.includes(undefined)) return absent[0];
  }
  return undefined;
}

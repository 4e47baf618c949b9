import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { withoutProgram } from "../../../../../test/support/programs.ts";
import { place } from "../../support/assent.ts";
import { converse } from "../support/conversation.ts";
import { resizeStage, type StageKind, stageStatus } from "../support/resize-stage.ts";
import { openScreen, type Screen } from "../support/screen.ts";

type OpenStage = (kind: StageKind) => Screen;

/** A directory with the socket of a tmux server; disposing of it ends the server. */
function tmuxServer(): { readonly open: OpenStage; readonly [Symbol.dispose]: () => void } {
  const directory = mkdtempSync(join(tmpdir(), "assent-tmux-"));
  const env = { PATH: process.env["PATH"] ?? "", TMUX_TMPDIR: directory };
  const config = join(directory, "tmux.conf");
  writeFileSync(config, "set -g status off\nset -g escape-time 0\n");
  return {
    open: (kind) => {
      const program = [process.execPath, ...resizeStage(kind)].join(" ");
      return openScreen({ cwd: directory, env, file: "tmux", program: ["-f", config, "new-session", program] });
    },
    [Symbol.dispose]: () => {
      spawnSync("tmux", ["kill-server"], { env });
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const SIZES: readonly (readonly [sentence: string, kind: StageKind, sizes: readonly (readonly [columns: number, rows: number])[]])[] = [
  [
    "a prompt in a smaller, then a larger window",
    "prompt",
    [
      [40, 12],
      [160, 50],
    ],
  ],
  [
    "a draft in a smaller, then a larger window",
    "draft",
    [
      [40, 12],
      [160, 50],
    ],
  ],
  [
    "a card in a smaller, then a larger window",
    "card",
    [
      [40, 12],
      [160, 50],
    ],
  ],
  [
    "a card in a window with too few rows for it, then a larger one",
    "card",
    [
      [60, 6],
      [120, 40],
    ],
  ],
  [
    "a card in a narrower, then a wider window",
    "card",
    [
      [30, 24],
      [100, 24],
    ],
  ],
  [
    "streaming output in a smaller, then a larger window",
    "stream",
    [
      [40, 20],
      [160, 50],
    ],
  ],
];

const LINES = ["line 0", "line 1", "line 2", "line 3", "line 4", "line 5"];

/** The live rows that the stage draws at this width. */
function expectedRows(kind: StageKind, columns: number, rows: number): readonly string[] {
  const border = "─".repeat(columns);
  const card = Array.from({ length: 9 }, (_, at) => `card ${at}`);
  return kind === "card" ? ["", border, ...card, stageStatus(columns, rows)] : ["", border, " typed", border, stageStatus(columns, rows)];
}

/** The number of the newest row that a stream printed into the scrollback. */
function lastPrinted(text: string): number {
  return Math.max(0, ...Array.from(text.matchAll(/^more (\d+)/gm), (match) => Number(match[1])));
}

async function checkSizes(screen: Screen, kind: StageKind, sizes: readonly (readonly [number, number])[]): Promise<void> {
  await screen.until(stageStatus(80, 24));
  for (const [columns, rows] of sizes) {
    screen.resize(columns, rows);
    let now = await screen.until((text) => text.includes(stageStatus(columns, rows)));
    if (kind === "stream") {
      const before = lastPrinted(now);
      screen.type("x"); // one more frame, after the program knows the new size
      now = await screen.until((text) => text.includes(stageStatus(columns, rows)) && lastPrinted(text) > before);
    }
    const visible = now
      .trimEnd()
      .split("\n")
      .map((row) => row.slice(0, columns).trimEnd()) // xterm keeps what is right of a narrower window
      .filter((row) => !/^(?:stream|more) \d+$/.test(row));
    const all = [...LINES, ...expectedRows(kind, columns, rows)];
    assert.deepEqual(visible, all.slice(-visible.length), `at ${columns} by ${rows}:\n${now}`);
  }
}

describe("after a resize each row is on the screen once", { concurrency: 2 }, () => {
  // xterm.js moves a cursor for rows that wrap below it, so a draft leaves a row behind there
  for (const [sentence, kind, sizes] of SIZES.filter(([, kind]) => kind !== "draft"))
    test(`${sentence}, in xterm`, async () => {
      using screen = openScreen({ cwd: process.cwd(), env: {}, program: resizeStage(kind) });
      await checkSizes(screen, kind, sizes);
    });

  for (const [sentence, kind, sizes] of SIZES)
    test(`${sentence}, in tmux`, { skip: withoutProgram("tmux") }, async () => {
      using server = tmuxServer();
      using screen = server.open(kind);
      await checkSizes(screen, kind, sizes);
    });

  test("a window that is resized while Assent starts shows the prompt once", async () => {
    using at = place();
    using screen = converse(at, {});
    await screen.until("starting");
    screen.resize(40, 12);
    const now = await screen.until((text) => text.includes("script:") && text.includes("─".repeat(40)));
    assert.equal(now.match(/^─+$/gm)?.length, 2, now);
  });
});

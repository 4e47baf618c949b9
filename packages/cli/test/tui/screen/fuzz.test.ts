import assert from "node:assert/strict";
import { test } from "node:test";
import { place } from "../../support/assent.ts";
import { converse } from "../support/conversation.ts";
import { KEY_NAMES } from "../support/key-bytes.ts";

/** The same numbers for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const TEXTS = [
  "hello ",
  "y",
  "n",
  "/mode ",
  "/help",
  "!echo 1",
  "@",
  "?",
  "\t",
  "é",
  "漢字",
  "a\u001b[200~pasted\nlines\u001b[201~",
  "\u001b[<0;1;1M",
];
const KEYS = [...KEY_NAMES, "ctrl+o", "ctrl+t", "ctrl+n", "ctrl+l", "ctrl+u", "ctrl+w", "ctrl+a", "q"];
const SIZES = [
  [80, 24],
  [40, 12],
  [160, 50],
  [24, 6],
  [100, 9],
] as const;

const CALLS = Array.from({ length: 30 }, (_, at) => ({
  say: `Turn ${at}.\n\n- point`,
  calls: [{ tool: "write", id: `c${at}`, input: { file_path: `f${at}.txt`, content: "one\n" } }],
}));

for (const seed of [1, 2, 3]) {
  test(`any keys and sizes, from seed ${seed}, never break the screen, and it still can be left`, async () => {
    using at = place();
    using screen = converse(at, { turns: CALLS });
    await screen.until("script:");
    const next = numbers(seed);
    for (let step = 0; step < 120; step += 1) {
      const kind = next(10);
      if (kind < 4) screen.type(TEXTS[next(TEXTS.length)] ?? "");
      else if (kind < 9) screen.press(KEYS[next(KEYS.length)] ?? "enter");
      else {
        const [columns, rows] = SIZES[next(SIZES.length)] ?? SIZES[0];
        screen.resize(columns, rows);
      }
      if (step % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 40));
    }
    screen.resize(80, 24);
    process.kill(screen.pid, "SIGTERM");
    assert.ok([0, 75, 130].includes(await screen.exit()), screen.lines().join("\n"));
    assert.deepEqual(screen.modes(), { paste: false, cursorHidden: false, isAlternate: false });
    assert.ok(!screen.rawBytes().includes("    at "), "no stack trace");
  });
}

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Cell, Colour, Screen } from "./screen.ts";

/** With this set, what is on the screens now becomes what is expected; look at the difference before it is committed. */
const UPDATES = process.env["ASSENT_GOLDEN"] === "update";

/** What differs from run to run, and what stands for it. */
const CHANGING: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/\/[^\s:]*\/assent-cli-\w{6}/g, () => "ROOT"],
  [/\b[a-z]{1,3}_[a-z2-7]{20}\b/g, (id) => id.replace(/_.*/, (rest) => `_${"0".repeat(rest.length - 1)}`)],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, (date) => "0000-00-00 00:00:00.000Z".slice(0, date.length)],
  [/\b\d\d:\d\d:\d\d\b/g, () => "00:00:00"],
  [/\b\d+(\.\d+)? ?(ms|s|min)\b/g, () => "0 s"],
  [/\bAssent \d+\.\d+\.\d+\S*/g, () => "Assent 0.0.0"],
  [/\bpid \d+/g, () => "pid 0"],
  [/[⠁-⣿]/gu, () => "⠋"],
];

/** From what the person said last on: how far a screen has scrolled depends on frames that came and went. */
export function sinceLastSaid(screen: Pick<Screen, "scrollback">): readonly string[] {
  const lines = screen.scrollback();
  return lines.slice(
    Math.max(
      0,
      lines.findLastIndex((line) => /^> [a-z]{3}/.test(line)),
    ),
  );
}

/** The screen with everything that differs from run to run replaced. */
export function steady(lines: readonly string[]): string {
  const text = CHANGING.reduce((sofar, [pattern, stand]) => sofar.replace(pattern, (found) => stand(found)), lines.join("\n"));
  return `${text.replaceAll(/[ \t]+$/gm, "").trimEnd()}\n`;
}

/** The screen with its looks: what is painted stands in brackets, after its colours. */
export function painted(screen: Pick<Screen, "cells">): readonly string[] {
  return screen.cells().map((row) => {
    const runs: { look: string; text: string }[] = [];
    for (const cell of row) {
      const look = lookOf(cell);
      const last = runs.at(-1);
      const text = cell.text === "" && cell.width > 0 ? " " : cell.text;
      if (last?.look === look) last.text += text;
      else runs.push({ look, text });
    }
    return runs.map(({ look, text }) => (look === "" ? text : `[${look}:${text}]`)).join("");
  });
}

function lookOf({ front, ground, bold, dim, inverse }: Cell): string {
  const colour = (name: string, value: Colour): readonly string[] =>
    value === undefined ? [] : [`${name}${"palette" in value ? value.palette : `#${value.rgb.toString(16)}`}`];
  return [
    ...colour("", front),
    ...colour("on ", ground),
    ...(bold ? ["bold"] : []),
    ...(dim ? ["dim"] : []),
    ...(inverse ? ["inverse"] : []),
  ].join(" ");
}

/** Compares a screen with `golden/NAME.txt`. */
export function matchesGolden(name: string, lines: readonly string[]): void {
  const file = fileURLToPath(new URL(`../golden/${name}.txt`, import.meta.url));
  const found = steady(lines);
  if (UPDATES) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, found);
    return;
  }
  assert.equal(found, wantedOf(file), `the screen is not as in golden/${name}.txt; ASSENT_GOLDEN=update makes it the new one`);
}

function wantedOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`there is no ${file} yet; ASSENT_GOLDEN=update writes it`, { cause: error });
  }
}

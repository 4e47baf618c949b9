import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { watchFiles } from "../../src/settings/watch-files.ts";
import { scratch } from "../scratch.ts";

/** Resolves when the system has told of a change, and so of every one before it. */
async function toldOf(t: TestContext, file: string, change: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = watchFiles([file], resolve);
  t.after(stop);
  change();
  await promise;
  stop();
}

const SOON = { timeout: 20_000 };

const ROWS: readonly (readonly [sentence: string, before: (root: string) => void, change: (root: string) => void])[] = [
  ["a file that is written", (root) => write(root, "f"), (root) => write(root, "f")],
  ["a file that comes to be", () => undefined, (root) => write(root, "f")],
  ["a file that goes away", (root) => write(root, "f"), (root) => rmSync(join(root, "f"))],
  ["a file that another is renamed to", (root) => write(root, "g"), (root) => renameSync(join(root, "g"), join(root, "f"))],
  ["a file that is a link, where it leads", (root) => linkTo(root, "far/g"), (root) => write(root, "far/g")],
  ["a file that is a link, the link itself", (root) => linkTo(root, "far/g"), (root) => rmSync(join(root, "f"))],
];

describe("a watcher is notified of", () => {
  for (const [sentence, before, change] of ROWS) {
    test(sentence, SOON, async (t) => {
      const root = scratch(t);
      before(root);
      await toldOf(t, join(root, "f"), () => change(root));
    });
  }

  test("a file whose directories come to be one by one", SOON, async (t) => {
    const root = scratch(t);
    const waiting: (() => void)[] = [];
    t.after(watchFiles([join(root, "a/b/f")], () => waiting.shift()?.()));
    for (const step of [() => mkdirSync(join(root, "a")), () => mkdirSync(join(root, "a/b")), () => write(root, "a/b/f")]) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      step();
      await promise;
    }
  });

  test("a file in a directory that was put in the place of another", SOON, async (t) => {
    const root = scratch(t);
    mkdirSync(join(root, "a"));
    mkdirSync(join(root, "b"));
    let told = Promise.withResolvers<void>();
    t.after(watchFiles([join(root, "a/f")], () => told.resolve()));
    rmSync(join(root, "a"), { recursive: true });
    renameSync(join(root, "b"), join(root, "a"));
    await told.promise;
    told = Promise.withResolvers<void>();
    write(root, "a/f");
    await told.promise;
  });
});

describe("a watcher is not notified", () => {
  test("of other files beside it", SOON, async (t) => {
    const root = scratch(t);
    let told = 0;
    t.after(watchFiles([join(root, "f")], () => (told += 1)));
    await toldOf(t, join(root, "other"), () => write(root, "other"));
    assert.equal(told, 0);
  });

  test("after it was stopped", SOON, async (t) => {
    const root = scratch(t);
    let told = 0;
    const stop = watchFiles([join(root, "f"), join(root, "g")], () => (told += 1));
    stop();
    await toldOf(t, join(root, "f"), () => write(root, "f"));
    assert.equal(told, 0);
  });
});

function write(root: string, name: string): void {
  mkdirSync(join(root, name, ".."), { recursive: true });
  writeFileSync(join(root, name), String(Math.random()));
}

function linkTo(root: string, name: string): void {
  write(root, name);
  symlinkSync(join(root, name), join(root, "f"));
}

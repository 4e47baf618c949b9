import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readSource } from "../../src/ast/source-files.ts";
import { scratch } from "../scratch.ts";

const ROWS: readonly (readonly [name: string, prepare: (path: string) => void, expected: string])[] = [
  ["a FIFO is not waited for", (path) => execFileSync("mkfifo", [path]), "unreadable"],
  ["a link that took a file's place is not followed", (path) => symlinkSync("/etc/hostname", path), "unreadable"],
  ["a file that is gone", () => undefined, "unreadable"],
  ["a NUL makes a file binary", (path) => writeFileSync(path, "a\0"), "binary"],
  ["bytes that are no UTF-8", (path) => writeFileSync(path, Buffer.from([0x61, 0xc3])), "not_utf8"],
  ["a byte more than 2 MiB", (path) => writeFileSync(path, "x".repeat(2 * 1024 * 1024 + 1)), "too_large"],
];
for (const [name, prepare, expected] of ROWS) {
  test(`reading a source: ${name}: ${expected}`, (t) => {
    const path = join(scratch(t), "a.ts");
    prepare(path);
    assert.equal(readSource(path), expected);
  });
}

test("a byte order mark is separated from the text", (t) => {
  const path = join(scratch(t), "a.ts");
  writeFileSync(path, "\ufeff\ufeffx");
  assert.deepEqual(readSource(path), { bytes: Buffer.from("\ufeff\ufeffx"), text: "\ufeffx", mark: "\ufeff" });
});

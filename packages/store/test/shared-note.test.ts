import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openSharedNote } from "../src/files/shared-note.ts";

function noteFile(t: { after: (work: () => void) => void }): string {
  const directory = mkdtempSync(join(tmpdir(), "assent-note-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return join(directory, "below", "note.db");
}

test("reading a note that was never taken creates no file", (t) => {
  const file = noteFile(t);
  const note = openSharedNote(file);
  assert.equal(note.read(), undefined);
  note.close();
  assert.equal(existsSync(file), false);
});

test("one at a time may change a note, and others read what was kept last", (t) => {
  const file = noteFile(t);
  const [one, two] = [openSharedNote(file), openSharedNote(file)];
  const first = one.take();
  assert.equal(first?.text, undefined);
  assert.equal(two.take(), undefined);
  assert.equal(one.take(), undefined, "also in the same process");
  first?.keep("a");
  assert.equal(two.read(), "a");
  const second = two.take();
  assert.equal(second?.text, "a");
  second?.release();
  second?.release();
  assert.equal(one.read(), "a");
  one.take()?.keep("b");
  assert.equal(two.read(), "b");
  one.close();
  two.close();
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("a process that is killed leaves the note to others, unchanged", async (t) => {
  const file = noteFile(t);
  const note = openSharedNote(file);
  t.after(() => note.close());
  note.take()?.keep("before");
  const module = new URL("../src/files/shared-note.ts", import.meta.url).href;
  const script = `import { openSharedNote } from ${JSON.stringify(module)};
    if (openSharedNote(${JSON.stringify(file)}).take()) console.log("taken");
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["--conditions=@assent/source", "--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  assert.equal(note.take(), undefined);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  const taken = note.take();
  assert.equal(taken?.text, "before");
  taken?.release();
});

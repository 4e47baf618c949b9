import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";

const directory = mkdtempSync(join(tmpdir(), "assent-process-io-"));
after(() => rmSync(directory, { recursive: true }));

/** Reports what a process reads from stdin, and whether a stream was created. */
const PROGRAM = `
const { processIo } = await import(${JSON.stringify(new URL("../../src/io/process-io.ts", import.meta.url).href)});
const { get } = Object.getOwnPropertyDescriptor(process, "stdin");
let streamed = false;
Object.defineProperty(process, "stdin", { get: () => { streamed = true; return get.call(process); } });
const io = processIo();
const read = Buffer.from(await io.readStdin(5)).toString();
process.stdout.write(JSON.stringify({ read, tty: io.stdinIsTTY, streamed }));
`;

function told(stdin: number | string): unknown {
  const { stdout, stderr } = spawnSync(process.execPath, ["--conditions=@assent/source", "--input-type=module", "-e", PROGRAM], {
    encoding: "utf8",
    stdio: [typeof stdin === "number" ? stdin : "pipe", "pipe", "pipe"],
    ...(typeof stdin === "string" && { input: stdin }),
  });
  assert.equal(stderr, "");
  return JSON.parse(stdout);
}

function reading<T>(file: string, work: (descriptor: number) => T): T {
  const descriptor = openSync(file, "r");
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

describe("what a process reads from its stdin", () => {
  test("from /dev/null comes nothing, and no stream is made to hear it", () => {
    assert.deepEqual(reading("/dev/null", told), { read: "", tty: false, streamed: false });
  });

  test("from a file comes what it holds", () => {
    const file = join(directory, "given.txt");
    writeFileSync(file, "hello");
    assert.deepEqual(reading(file, told), { read: "hello", tty: false, streamed: true });
  });

  test("from a pipe comes what was written, and from an empty one nothing", () => {
    assert.deepEqual(told("pipe"), { read: "pipe", tty: false, streamed: true });
    assert.deepEqual(told(""), { read: "", tty: false, streamed: true });
  });
});

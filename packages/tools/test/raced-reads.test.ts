import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { contentText } from "@assent/core";
import { type Session, session } from "./session.ts";

const SECRET = "TOP-SECRET";
const PUBLIC = "public text";

/** Puts what the second word makes in the place of the file again and again, as fast as it can, until it is ended. */
const SWAPPER = `
const fs = require("node:fs");
const [, at, how, secret] = process.argv;
for (let n = 0; ; n++) {
  const made = at + "." + (n % 2);
  fs.rmSync(made, { recursive: true, force: true });
  if (n % 2 === 0) how === "hard link" ? fs.linkSync(secret, made) : fs.symlinkSync(secret, made);
  else if (how === "directory") { fs.mkdirSync(made); fs.writeFileSync(made + "/f.txt", "${PUBLIC}\\n"); }
  else fs.writeFileSync(made, "${PUBLIC}\\n");
  if (how === "directory") fs.rmSync(at, { recursive: true, force: true });
  fs.renameSync(made, at);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  if (n === 3) fs.writeSync(1, "racing");
}`;

type How = "link" | "directory" | "hard link";

/** Races with the work in a process of its own, which ends with it. */
async function race(work: () => Promise<void>, ...[at, how, secret]: [at: string, how: How, secret: string]): Promise<void> {
  const child = spawn(process.execPath, ["-e", SWAPPER, at, how, secret], { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  try {
    await once(child.stdout, "data");
    await work();
  } finally {
    child.kill("SIGKILL");
    await exit;
  }
}

/** Judges a call as the runtime does, and runs it where it passes without asking. */
async function judged(
  { tool, workspace }: Session,
  name: string,
  input: object,
): Promise<{ readonly verdict: string; readonly text: string }> {
  const invocation = await tool(name).build(input, { cwd: workspace, callId: "c1", sessionId: "s_1" });
  const verdict = await invocation.permission();
  if (verdict !== "allow") return { verdict, text: "" };
  const { content } = await invocation.execute(new AbortController().signal);
  return { verdict, text: contentText(content) };
}

function secretBeside(t: TestContext): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "assent-secret-")));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "f.txt"), `${SECRET}\n`);
  return directory;
}

const TOOLS: readonly (readonly [tool: string, how: How, input: object])[] = [
  ["read", "link", { file_path: "f.txt" }],
  ["read", "directory", { file_path: "d/f.txt" }],
];
const CALLS = 480;
for (const [tool, how, input] of TOOLS) {
  test(`480 calls of ${tool} that race with a ${how === "link" ? "file" : how} being replaced by a link reveal nothing`, async (t) => {
    const opened = session(t);
    const { workspace } = opened;
    const secret = secretBeside(t);
    const at = join(workspace, how === "directory" ? "d" : "f.txt");
    if (how === "directory") mkdirSync(at);
    writeFileSync(how === "directory" ? join(at, "f.txt") : at, `${PUBLIC}\n`);
    const seen = { public: 0, other: 0 };
    const work = async (): Promise<void> => {
      for (let n = 0; n < CALLS; n++) {
        const { text } = await judged(opened, tool, input);
        assert.ok(!text.includes(SECRET), text);
        seen[text.includes(PUBLIC) ? "public" : "other"] += 1;
      }
    };
    await race(work, at, how, how === "directory" ? secret : join(secret, "f.txt"));
    assert.ok(seen.public > 0, JSON.stringify(seen));
  });
}

test("a hard link to a file that holds secrets asks; other hard links do not, and one that comes after judging is not read", async (t) => {
  const at = session(t);
  const { workspace } = at;
  const verdict = async (name: string): Promise<string> => (await judged(at, "read", { file_path: name })).verdict;
  writeFileSync(join(workspace, ".env"), `${SECRET}\n`);
  linkSync(join(workspace, ".env"), join(workspace, "notes.txt"));
  writeFileSync(join(workspace, "a.txt"), "a\n");
  linkSync(join(workspace, "a.txt"), join(workspace, "b.txt"));
  for (let n = 0; n < 1_100; n++) writeFileSync(join(workspace, `-${n}`), ""); // however many files are beside it
  assert.equal(await verdict("notes.txt"), "ask");
  assert.equal(await verdict("b.txt"), "allow");
  writeFileSync(join(workspace, "f.txt"), `${PUBLIC}\n`);
  const work = async (): Promise<void> => {
    for (let n = 0; n < CALLS; n++) {
      const { text } = await judged(at, "read", { file_path: "f.txt" });
      assert.ok(!text.includes(SECRET), text);
    }
  };
  await race(work, join(workspace, "f.txt"), "hard link", join(workspace, ".env"));
});

test("a link that is there when a call is judged is followed", async (t) => {
  const { call, workspace } = session(t);
  writeFileSync(join(workspace, "a.txt"), "a\n");
  symlinkSync("a.txt", join(workspace, "l.txt"));
  assert.equal((await call("read", { file_path: "l.txt" })).content, "1→a");
});

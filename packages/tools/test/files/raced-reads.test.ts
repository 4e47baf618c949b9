import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { contentText } from "@assent/core";
import { LONG } from "../../../../test/support/long.ts";
import { RIPGREP } from "../scratch.ts";
import { type Session, session } from "../session.ts";

const SECRET = "TOP_SECRET";
const PUBLIC = "public_text";

/** Puts what the second word makes in the place of the file again and again, as fast as it can, until it is ended. */
const SWAPPER = `
const fs = require("node:fs");
const [, at, how, secret] = process.argv;
for (let n = 0; ; n++) {
  const made = at + "." + (n % 2);
  fs.rmSync(made, { recursive: true, force: true });
  if (n % 2 === 0) how === "hard link" ? fs.linkSync(secret, made) : fs.symlinkSync(secret, made);
  else if (how === "directory") { fs.mkdirSync(made); fs.writeFileSync(made + "/f.js", "${PUBLIC}\\n"); fs.writeFileSync(made + "/${PUBLIC}", ""); }
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
  writeFileSync(join(directory, "f.js"), `${SECRET}\n`);
  writeFileSync(join(directory, SECRET), "");
  return directory;
}

type Row = { readonly tool: string; readonly how: How; readonly input: object; readonly calls?: number; readonly path?: string };

const FOUND = { pattern: "[a-zA-Z]+_[a-zA-Z]+", output_mode: "content" };
const RG = { path: RIPGREP, calls: LONG ? 60 : 20 }; // each call starts programs
const ROWS: readonly Row[] = [
  { tool: "read", how: "link", input: { file_path: "f.js" } },
  { tool: "read", how: "directory", input: { file_path: "d/f.js" } },
  { tool: "search", how: "link", input: { path: "f.js", ...FOUND } },
  { tool: "search", how: "directory", input: { path: "d", ...FOUND } },
  { tool: "search", how: "directory", input: FOUND, calls: 40 },
  { tool: "search", how: "link", input: { path: "f.js", ...FOUND }, ...RG },
  { tool: "search", how: "directory", input: { path: "d", ...FOUND }, ...RG },
  { tool: "search", how: "directory", input: FOUND, ...RG },
  { tool: "ast_grep", how: "link", input: { pattern: "$A", paths: ["f.js"] } },
  { tool: "ast_grep", how: "directory", input: { pattern: "$A", paths: ["d"] } },
  { tool: "ast_grep", how: "directory", input: { pattern: "$A", paths: ["d/*.js"] } },
  { tool: "list", how: "directory", input: { path: "d" } },
  { tool: "glob", how: "directory", input: { pattern: "d/*" } },
  { tool: "glob", how: "directory", input: { pattern: "*", path: "d" } },
];
const CALLS = LONG ? 480 : 160;
for (const { tool, how, input, calls = CALLS, path } of ROWS) {
  const name = `${tool}${path === undefined ? "" : " by ripgrep"} ${JSON.stringify(input)}`;
  test(`calls of ${name} that race with a ${how === "link" ? "file" : how} being replaced by a link reveal nothing`, async (t) => {
    const opened = session(t, { PATH: path ?? "" });
    const { workspace } = opened;
    const secret = secretBeside(t);
    const at = join(workspace, how === "directory" ? "d" : "f.js");
    if (how === "directory") mkdirSync(at);
    writeFileSync(how === "directory" ? join(at, "f.js") : at, `${PUBLIC}\n`);
    if (how === "directory") writeFileSync(join(at, PUBLIC), "");
    assert.ok((await judged(opened, tool, input)).text.includes(PUBLIC));
    const work = async (): Promise<void> => {
      for (let n = 0; n < calls; n++) {
        const { text } = await judged(opened, tool, input);
        assert.ok(!text.includes(SECRET), text);
      }
    };
    await race(work, at, how, how === "directory" ? secret : join(secret, "f.js"));
  });
}

const LINKED: readonly Pick<Row, "tool" | "input" | "calls" | "path">[] = [
  { tool: "search", input: FOUND, calls: 40 },
  { tool: "search", input: FOUND, ...RG },
  { tool: "ast_grep", input: { pattern: "$A", paths: ["."] } },
  { tool: "ast_grep", input: { pattern: "$A", paths: ["f.js"] } },
];
for (const { tool, input, calls = CALLS, path } of LINKED)
  test(`calls of ${tool}${path === undefined ? "" : " by ripgrep"} ${JSON.stringify(input)} that race with a hard link to secrets reveal nothing`, async (t) => {
    const opened = session(t, { PATH: path ?? "" });
    writeFileSync(join(opened.workspace, ".env"), `${SECRET}\n`);
    writeFileSync(join(opened.workspace, "f.js"), `${PUBLIC}\n`);
    assert.ok((await judged(opened, tool, input)).text.includes(PUBLIC));
    const work = async (): Promise<void> => {
      for (let n = 0; n < calls; n++) {
        const { text } = await judged(opened, tool, input);
        assert.ok(!text.includes(SECRET), text);
      }
    };
    await race(work, join(opened.workspace, "f.js"), "hard link", join(opened.workspace, ".env"));
  });

for (const how of ["link", "directory"] as const)
  test(`the old content of an edit is not read through a link that took the place of its ${how === "link" ? "file" : "directory"}`, async (t) => {
    const { tool, workspace } = session(t);
    const secret = secretBeside(t);
    const at = join(workspace, how === "directory" ? "d" : "f.js");
    if (how === "directory") mkdirSync(at);
    writeFileSync(how === "directory" ? join(at, "f.js") : at, `${PUBLIC}\n`);
    const edit = tool("edit");
    const path = how === "directory" ? "d/f.js" : "f.js";
    const invocation = await edit.build(
      { file_path: path, old_string: PUBLIC, new_string: "new" },
      { cwd: workspace, callId: "c1", sessionId: "s_1" },
    );
    await invocation.permission();
    const { modify } = edit.definition;
    assert.ok(modify);
    assert.deepEqual(modify.withContent(invocation.input, "other\n"), {
      file_path: path,
      old_string: `${PUBLIC}\n`,
      new_string: "other\n",
    });
    rmSync(at, { recursive: true });
    symlinkSync(how === "directory" ? secret : join(secret, "f.js"), at);
    await assert.rejects(async () => modify.current(invocation.input));
    assert.throws(() => modify.withContent(invocation.input, "other\n"), /is a link now/);
  });

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
  writeFileSync(join(workspace, "f.js"), `${PUBLIC}\n`);
  const work = async (): Promise<void> => {
    for (let n = 0; n < CALLS; n++) {
      const { text } = await judged(at, "read", { file_path: "f.js" });
      assert.ok(!text.includes(SECRET), text);
    }
  };
  await race(work, join(workspace, "f.js"), "hard link", join(workspace, ".env"));
});

test("a link that is there when a call is judged is followed", async (t) => {
  const { call, workspace } = session(t);
  writeFileSync(join(workspace, "a.txt"), "a\n");
  symlinkSync("a.txt", join(workspace, "l.txt"));
  assert.equal((await call("read", { file_path: "l.txt" })).content, "1→a");
});

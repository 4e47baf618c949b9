import assert from "node:assert/strict";
import { linkSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { execute, session } from "../session.ts";

const SIGNAL = new AbortController().signal;

test("a parent exchanged for another directory after judging is refused, though the path is the same", async (t) => {
  const made = session(t);
  mkdirSync(join(made.root, "dir"));
  const context = { cwd: made.root, callId: "c1", sessionId: "s_1" };
  const invocation = await made.tool("write").build({ file_path: "dir/f", content: "x" }, context);
  await invocation.permission();
  renameSync(join(made.root, "dir"), join(made.root, "old"));
  mkdirSync(join(made.root, "dir"));
  assert.equal((await execute(made.tool("write"), invocation, context)).error?.type, "execution_denied");
  assert.deepEqual(readdirSync(join(made.root, "dir")), []);
});

test("a link that comes up in a place that did not exist when it was judged is refused", async (t) => {
  const made = session(t);
  const home = session(t).root;
  const context = { cwd: made.root, callId: "c1", sessionId: "s_1" };
  const invocation = await made.tool("write").build({ file_path: "new/f", content: "x" }, context);
  await invocation.permission();
  symlinkSync(home, join(made.root, "new"));
  assert.equal((await execute(made.tool("write"), invocation, context)).error?.type, "execution_denied");
  assert.deepEqual(readdirSync(home), []);
});

const WARNED: readonly (readonly [name: string, path: string, warning: RegExp])[] = [
  ["a file with another name", "two", /hard links.*keep the old content/],
  ["7: a control file", ".git/hooks/pre-push", /control file/],
  ["a path of another system", "C:x", /another operating system/],
];
for (const [name, file_path, warning] of WARNED) {
  test(`${name} is named in the approval`, async (t) => {
    const made = session(t);
    writeFileSync(join(made.root, "one"), "");
    linkSync(join(made.root, "one"), join(made.root, "two"));
    const context = { cwd: made.root, callId: "c1", sessionId: "s_1" };
    const details = await (await made.tool("write").build({ file_path, content: "x" }, context)).confirmation(SIGNAL);
    assert.ok(details);
    assert.match(details.warnings?.join("\n") ?? "", warning);
  });
}

import assert from "node:assert/strict";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Session, session } from "../session.ts";

const EDIT = { ops: [{ pat: "f($A)", out: "g($A)" }], paths: ["."] };

function workspace(t: TestContext): Session & { readonly write: (name: string, text: string) => void } {
  const made = session(t);
  const write = (name: string, text: string): void => writeFileSync(join(made.workspace, name), text);
  write("a.ts", "f(1)\n");
  return { ...made, write };
}

const change = { file_path: "a.ts", old_string: "g(1)", new_string: "h(1)" };

test("a file that was read and then changed by an applied ast_edit can be edited without reading it again", async (t) => {
  const at = workspace(t);
  await at.call("read", { file_path: "a.ts" });
  const { details } = await at.call("ast_edit", EDIT);
  assert.deepEqual(
    (details as { known: { path: string }[] }).known.map(({ path }) => path),
    [join(at.workspace, "a.ts")],
  );
  assert.equal((await at.call("edit", change)).error, undefined);
  assert.equal(readFileSync(join(at.workspace, "a.ts"), "utf8"), "h(1)\n");
});

test("a file that a link leads to is known by where it is", async (t) => {
  const at = workspace(t);
  symlinkSync("a.ts", join(at.workspace, "link.ts"));
  await at.call("read", { file_path: "a.ts" });
  await at.call("ast_edit", { ...EDIT, paths: ["link.ts"] });
  assert.equal((await at.call("edit", change)).error, undefined);
});

test("a file that the session never read is not known after an ast_edit either", async (t) => {
  const at = workspace(t);
  const { details } = await at.call("ast_edit", EDIT);
  assert.equal((details as { known?: unknown }).known, undefined);
  assert.equal((await at.call("edit", change)).error?.type, "edit_requires_prior_read");
});

test("a file that changed after it was read is not known after an ast_edit either", async (t) => {
  const at = workspace(t);
  await at.call("read", { file_path: "a.ts" });
  at.write("a.ts", "f(1)\nnew\n");
  await at.call("ast_edit", EDIT);
  assert.equal((await at.call("edit", change)).error?.type, "file_changed_since_read");
});

test("what one session knows is not known to another", async (t) => {
  const at = workspace(t);
  await at.call("read", { file_path: "a.ts" });
  await at.call("ast_edit", EDIT, { sessionId: "s_2" });
  assert.equal((await at.call("edit", change, { sessionId: "s_2" })).error?.type, "edit_requires_prior_read");
});

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { withoutProgram } from "../../../test/support/programs.ts";
import { type Place, type Printed, place } from "./support/assent.ts";

const skip = withoutProgram("bwrap");
const CONFINED = { confined: true, network: false };

function settle(at: Place, settings: object): void {
  mkdirSync(join(at.root, ".config/assent"), { recursive: true });
  writeFileSync(join(at.root, ".config/assent/settings.json"), JSON.stringify(settings), { mode: 0o600 });
}

const call = (at: Place, input: object, ...flags: readonly string[]): Promise<Printed> =>
  at.hereJson(["call", "shell", "--input", JSON.stringify(input), ...flags]);

async function recorded(at: Place, session: string, type: string): Promise<ReturnType<typeof JSON.parse>> {
  const { stdout } = await at.here(["log", session, "--type", type, "--json"]);
  return JSON.parse(stdout.trim()).body;
}

test("the record says that a command ran confined", { skip }, async () => {
  using at = place();
  settle(at, { sandbox: "prefer" });
  const { value } = await call(at, { command: "echo x > made; ls /home /var/log" }, "--mode", "yolo");
  assert.match(value.content, /\/var\/log/);
  assert.deepEqual((await recorded(at, value.sessionId, "call.judged")).containment, CONFINED);
  assert.deepEqual((await recorded(at, value.sessionId, "call.ended")).details, { containment: CONFINED });
  assert.ok(existsSync(at.path("made")));
});

test("without the setting, commands run as before and the record says nothing", async () => {
  using at = place();
  const { value } = await call(at, { command: "ls /usr" }, "--mode", "yolo");
  assert.equal((await recorded(at, value.sessionId, "call.judged")).containment, undefined);
});

test("with allowConfined, a confined command runs without approval, recorded as confined", { skip }, async () => {
  using at = place();
  settle(at, { sandbox: "require", allowConfined: true });
  const { code, value } = await call(at, { command: "touch made" });
  const { verdict, reason } = await recorded(at, value.sessionId, "call.judged");
  assert.deepEqual([code, value.outcome, verdict, reason], [0, "succeeded", "allow", "confined"]);
});

test("leaving the sandbox needs approval, and is denied if a sandbox is required", { skip }, async () => {
  using at = place();
  for (const [sandbox, type] of [
    ["prefer", "denied_unattended"],
    ["require", "denied_by_guard"],
  ] as const) {
    settle(at, { sandbox, allowConfined: true });
    assert.equal((await call(at, { command: "touch made", unconfined: true }, "--mode", "yolo")).value.type, type);
  }
  assert.equal(existsSync(at.path("made")), false);
});

test("a parked approval shows where the command runs", { skip }, async () => {
  using at = place();
  settle(at, { sandbox: "prefer" });
  await call(at, { command: "touch made" }, "--on-ask", "park");
  const { value } = await at.hereJson(["approvals"]);
  const { stdout } = await at.here(["approvals", "show", value[0].id]);
  assert.match(stdout, /sandbox +confined: writes only in the workspace and a private \/tmp, no network/);
});

test("a confined command finds no ledger, even in the workspace", { skip }, async () => {
  using at = place();
  settle(at, { sandbox: "prefer" });
  at.write("look.sh", "ls -A inside; touch inside/x\n");
  const store = ["--store", at.path("inside")];
  const { value } = await call(at, { command: "bash look.sh" }, "--mode", "yolo", ...store);
  assert.match(value.content, /^touch: cannot touch 'inside\/x': Read-only file system/);
});

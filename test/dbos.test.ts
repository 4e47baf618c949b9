import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { createGate } from "@assent/gate";
import { verifyPostgres } from "@assent/store-postgres";
import { startPostgres } from "../packages/store-postgres/test/postgres-server.ts";
import { CODE_FLAGS } from "./support/code-flags.ts";

const server = await startPostgres(18);
const PROGRAM = join(import.meta.dirname, "../examples/dbos/payment.ts");

let count = 0;

/** A database with a ledger and the workflows of DBOS, and a file of payments. */
async function openOffice(
  t: TestContext,
): Promise<{ url: string; directory: string; start: (env?: Record<string, string>) => Ended; payments: () => number }> {
  count += 1;
  const directory = mkdtempSync(join(tmpdir(), "assent-dbos-"));
  await server.sql(`create database office${count}`);
  const url = server.url("assent", `office${count}`).replace("@/", "@localhost/"); // DBOS wants a host, `pg` uses the socket
  const book = join(directory, "payments.txt");
  const children: ChildProcess[] = [];
  t.after(() => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    url,
    directory,
    start: (env = {}) => {
      const environment = {
        ...process.env,
        NODE_TEST_CONTEXT: undefined,
        DATABASE_URL: url,
        BOOK: book,
        XDG_STATE_HOME: directory,
        ...env,
      };
      const child = spawn(process.execPath, [...CODE_FLAGS, PROGRAM], { cwd: directory, env: environment });
      children.push(child);
      return ended(child);
    },
    payments: () => (existsSync(book) ? readFileSync(book, "utf8").trim().split("\n").length : 0),
  };
}

type Ended = Promise<{ readonly signal: string | null; readonly stdout: string; readonly stderr: string }>;

function ended(child: ChildProcess): Ended {
  const text = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text.stdout += chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (text.stderr += chunk));
  return new Promise((resolve) => child.once("close", (_, signal) => resolve({ signal, ...text })));
}

/** A person in another process approves as soon as the payment waits. */
async function approve(url: string): Promise<void> {
  for (;;) {
    const gate = await createGate({ store: url });
    const [approval] = await gate.approvals();
    if (approval) await gate.answer(approval.id, { outcome: "approve", by: "Ann" });
    await gate.close();
    if (approval) return;
  }
}

const CRASHES: readonly [sentence: string, crash: string, outcome: string, payments: number][] = [
  ["before the effect: the outcome is unknown", "before", "unknown", 0],
  ["after the effect, before its end is recorded: the outcome is unknown", "during", "unknown", 1],
  ["after the call ended, before DBOS recorded the step: the result is the recorded one", "after", "succeeded", 1],
];

describe("a gate inside a DBOS workflow, killed in its step and recovered by DBOS", () => {
  for (const [sentence, crash, outcome, payments] of CRASHES) {
    test(sentence, { timeout: 120_000 }, async (t) => {
      const office = await openOffice(t);
      const first = office.start({ CRASH: crash });
      await Promise.race([approve(office.url), first.then(({ stderr }) => assert.fail(stderr))]);
      assert.equal((await first).signal, "SIGKILL");
      const { stdout, stderr } = await office.start();
      assert.deepEqual([stdout, office.payments()], [`${outcome}\n`, payments], stderr);
      assert.equal((await office.start()).stdout, `${outcome}\n`, "the workflow has ended, and its result stays");
      assert.equal(office.payments(), payments);
      assert.deepEqual((await verifyPostgres(office)).findings, []);
    });
  }

  test("a plain function in the same step happens twice", { timeout: 120_000 }, async (t) => {
    const office = await openOffice(t);
    assert.equal((await office.start({ CRASH: "during", PLAIN: "1" })).signal, "SIGKILL");
    const { stdout, stderr } = await office.start({ PLAIN: "1" });
    assert.deepEqual([stdout, office.payments()], ["Paid 5.\n", 2], stderr);
  });
});

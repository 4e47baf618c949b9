import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import type { StoredEvent } from "@assent/core";
import { claimedDraft, judgedDraft, openedDraft, proposedDraft } from "@assent/core/testing";
import { openLedger } from "../src/open/open-ledger.ts";
import { verifyStore } from "../src/verify/verify.ts";
import { A, begin, locksOn, madeLedger, noise, readAll, scratch } from "./made-store.ts";

type Worker = { readonly child: ChildProcess; readonly go: () => Promise<unknown> };

/** A process that is ready to do its job as soon as it is told. */
async function worker(t: TestContext, directory: string, job: string): Promise<Worker> {
  const script = join(import.meta.dirname, "store-worker.ts");
  const child = spawn(process.execPath, ["--conditions=@assent/source", script, directory, job], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout });
  await once(lines, "line");
  return {
    child,
    go: async () => {
      const said = once(lines, "line");
      child.stdin?.write("go\n");
      const [text] = await said;
      if (child.exitCode === null) await once(child, "exit");
      return JSON.parse(String(text));
    },
  };
}

async function workers(t: TestContext, directory: string, jobs: readonly string[]): Promise<readonly unknown[]> {
  const ready = await Promise.all(jobs.map((job) => worker(t, directory, job)));
  return Promise.all(ready.map(({ go }) => go()));
}

test("processes that open a new store at the same moment make one store", async (t) => {
  const directory = join(await scratch(t), "state");
  const ids = await workers(t, directory, ["open", "open", "open"]);
  assert.match(String(ids[0]), /^[0-9a-f]{32}$/);
  assert.equal(new Set(ids).size, 1);
  const { findings, events } = await verifyStore({ directory });
  assert.deepEqual([findings, events], [[], 1]);
});

test("a process that opens its store a second time keeps the locks of the first", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  const files = ["ledger.db", "ledger.db-shm"].map((name) => join(ledger.directory, name));
  const before = files.map(locksOn);
  for (const locks of before) assert.notEqual(locks.length, 0);
  await (await openLedger({ directory: ledger.directory })).close();
  assert.deepEqual(files.map(locksOn), before);
  await workers(t, ledger.directory, ["open"]);
  await writer.full(noise());
});

test("two processes answer one approval; one wins, the other is given the winner's event", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1"));
  const outcomes = (await workers(t, ledger.directory, ["yes", "no"])) as { won?: StoredEvent; lost?: StoredEvent }[];
  const won = outcomes.flatMap((outcome) => outcome.won ?? []);
  const lost = outcomes.flatMap((outcome) => outcome.lost ?? []);
  assert.equal(won.length, 1);
  assert.deepEqual(lost, won);
  assert.deepEqual(await readAll(ledger, { pos: 0 }, { types: ["approval.answered"] }), won);
});

test("two processes claim one call; one wins", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1"), judgedDraft("c1"));
  const outcomes = (await workers(t, ledger.directory, ["claim", "claim"])) as object[];
  assert.equal(outcomes.filter((outcome) => "won" in outcome).length, 1, JSON.stringify(outcomes));
  assert.equal((await readAll(ledger, { pos: 0 }, { types: ["call.claimed"] })).length, 1);
});

test("whoever is taken over by another process can neither append nor claim", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1"), judgedDraft("c1"));
  const { child, go } = await worker(t, ledger.directory, "claim");
  assert.ok("won" in ((await go()) as object));
  await assert.rejects(writer.append(noise()), { type: "stale_writer", message: `This session was taken over by pid ${child.pid}.` });
  await assert.rejects(writer.claim(claimedDraft("c1")), { type: "stale_writer" });
});

test("processes that append at the same time each have a chain of their own without a gap", async (t) => {
  const ledger = await madeLedger(t);
  const epochs = await workers(t, ledger.directory, ["append", "append", "append"]);
  assert.equal(new Set(epochs).size, 3);
  const { ok, findings, sessions } = await verifyStore({ directory: ledger.directory });
  assert.deepEqual([ok, findings, sessions], [true, [], 3]);
  const events = await readAll(ledger);
  assert.deepEqual(
    events.map(({ pos }) => pos),
    events.map((_, at) => at + 1),
  );
});

test("a subscriber is told of another process's answer, and the call is then claimed once", async (t) => {
  const ledger = await madeLedger(t);
  const writer = await begin(ledger);
  await writer.append(proposedDraft("c1"), judgedDraft("c1", { verdict: "ask" }), openedDraft("c1"));
  const told: StoredEvent[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const subscription = ledger.subscribe({ pos: await ledger.head() }, { naming: A }, (event) => {
    told.push(event);
    resolve();
  });
  const { go } = await worker(t, ledger.directory, "yes");
  const answer = (await go()) as { won: StoredEvent };
  await promise;
  subscription.close();
  assert.deepEqual(told, [answer.won]);
  assert.ok("won" in (await writer.claim(claimedDraft("c1", { answer: { pos: told[0]?.pos ?? 0 } }))));
});

test("a subscriber sees a commit of another process without waiting for the regular check", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const ledger = await madeLedger(t);
  const seen: string[] = [];
  let wake = (): void => undefined;
  const subscription = ledger.subscribe({ pos: await ledger.head() }, {}, ({ type }) => {
    if (type === "hook.ran") seen.push(type);
    wake();
  });
  t.after(() => subscription.close());
  const { child } = await worker(t, ledger.directory, "append-and-stay");
  child.stdin?.write("go\n");
  await new Promise<void>((resolve) => {
    wake = resolve;
  });
  for (let at = 0; at < 5; at += 1) {
    child.stdin?.write(`${at}\n`);
    await new Promise<void>((resolve) => {
      wake = () => (seen.length > at ? resolve() : undefined);
      wake();
    });
  }
  child.stdin?.end();
  await once(child, "exit");
  assert.equal(seen.length, 5);
});

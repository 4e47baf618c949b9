import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startPostgres } from "../../../store-postgres/test/postgres-server.ts";
import { place, until } from "../support/assent.ts";

const server = await startPostgres(18);

const SCRIPT = { allowUnused: true, turns: [{ calls: [{ tool: "shell", id: "c1", input: { command: "touch begun; sleep 300" } }] }] };

/** A worker without work has nothing to report when it stops; it has already warned. */
const BUSY: readonly (readonly [sentence: string, argv: readonly string[], isBusy: RegExp, saysWhy: RegExp])[] = [
  [
    "a run in the middle of a command",
    ["run", "go", "--model", "script:../script.json", "--mode", "yolo"],
    /begun/,
    /cannot be reached: .*Start the database or check the URL, then try again/,
  ],
  ["a worker", ["worker"], /worker/i, /cannot be reached: .*Nothing runs until it is back/],
];

for (const [at, [sentence, argv, isBusy, saysWhy]] of BUSY.entries())
  test(`${sentence} ends at once on Ctrl-C while the database is away, and says why`, {
    timeout: 60_000 /* it would give up after two minutes */,
  }, async () => {
    using here = place();
    writeFileSync(join(here.root, "script.json"), JSON.stringify(SCRIPT));
    const child = here.start(argv, { env: { ASSENT_STORE: server.url(`away${at}`) } });
    child.stdin?.end();
    let [out, err] = ["", ""];
    child.stdout?.on("data", (text: Buffer) => {
      out += text.toString();
    });
    child.stderr?.on("data", (text: Buffer) => {
      err += text.toString();
    });
    const ended = new Promise<number | null>((resolve) => {
      child.once("exit", resolve);
    });
    let stopped = false;
    try {
      await until("it is busy", () => isBusy.test(`${out}${err}${readdirSync(here.workspace).join()}`));
      await server.stop();
      stopped = true;
      await until("it noticed the outage", () => /cannot be reached: .*Nothing runs until it is back/.test(err));
      child.kill("SIGINT");
      assert.notEqual(await ended, null, "it ended by itself");
      assert.match(`${out}${err}`, saysWhy);
    } finally {
      child.kill("SIGKILL");
      if (stopped) await server.start();
    }
  });

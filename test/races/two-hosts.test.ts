import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { BIN, ended, type Place, place, type Ran } from "../../packages/cli/test/support/assent.ts";
import { startPostgres } from "../../packages/store-postgres/test/postgres-server.ts";
import { withoutProgram } from "../support/programs.ts";

const server = await startPostgres(18);

/** Another host name and its own process ids, as another machine has. */
const OTHER_HOST = [
  "unshare",
  "--uts",
  "--pid",
  "--fork",
  "--kill-child",
  "--mount-proc",
  "sh",
  "-c",
  'hostname elsewhere && exec "$@"',
  "sh",
];
const RESUMES = 10;

function start(at: Place, under: readonly string[], argv: readonly string[]): Promise<Ran> {
  const [program = "", ...words] = [...under, process.execPath, BIN, ...argv];
  return ended(spawn(program, words, { cwd: at.workspace, env: at.env, stdio: ["ignore", "pipe", "pipe"] }));
}

describe("one approval is resumed ten times at once from two hosts", { skip: withoutProgram("unshare"), timeout: 180_000 }, () => {
  for (const store of ["SQLite", "PostgreSQL"])
    test(`one effect on ${store}`, async () => {
      using at = place();
      if (store === "PostgreSQL") at.env["ASSENT_STORE"] = server.url("hosts");
      assert.equal((await start(at, OTHER_HOST, ["--version"])).code, 0, "the other host can run it");
      const parked = await at.hereJson(["call", "shell", "--input", '{"command":"echo once >> x"}', "--on-ask", "park"]);
      const { approvalId, sessionId } = parked.value;
      assert.equal((await at.here(["approve", approvalId])).code, 0);
      const resumed = await Promise.all(
        Array.from({ length: RESUMES }, (_, n) => start(at, n % 2 === 0 ? [] : OTHER_HOST, ["resume", sessionId, "--json"])),
      );
      const results = resumed.map(({ stdout }) => JSON.parse(stdout));
      const refused = results.flatMap(({ error }) => (error ? [error.type] : []));
      const ends = results.flatMap(({ outcome }) => (outcome ? [outcome] : []));
      assert.equal(ends.length + refused.length, RESUMES, JSON.stringify(resumed));
      assert.ok(ends.length > 0 && ends.every((outcome) => outcome === "succeeded"), JSON.stringify(results));
      assert.ok(
        refused.every((type) => ["session_in_use", "session_busy"].includes(type)),
        JSON.stringify(results),
      );
      assert.equal(readFileSync(at.path("x"), "utf8"), "once\n");
      const claims = (await at.here(["log", sessionId, "--type", "call.claimed", "--json"])).stdout.trim().split("\n");
      assert.equal(claims.length, 1);
      const { value } = await at.hereJson(["verify"]);
      assert.deepEqual([value.ok, value.findings], [true, []]);
    });
});

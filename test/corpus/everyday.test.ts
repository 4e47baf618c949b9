import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, type TestContext, test } from "node:test";
import { withoutProgram } from "../support/programs.ts";
import { EVERYDAY, type EverydayCommand, type EverydayVerdict, judgeEveryday, scoreEveryday } from "./everyday.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "assent-everyday-")));
after(() => rmSync(scratch, { recursive: true, force: true }));

function makeDirectory(name: string): string {
  mkdirSync(join(scratch, name));
  return join(scratch, name);
}

describe("everyday commands, in the default mode without a rule", () => {
  const verdicts = judgeEveryday(makeDirectory("default"));
  const those = (isMeant: (row: EverydayCommand) => boolean): readonly EverydayVerdict[] => verdicts.filter(({ row }) => isMeant(row));
  const allowed = (all: readonly EverydayVerdict[]): readonly string[] =>
    all.filter(({ verdict }) => verdict === "allow").map(({ row }) => row.command);

  test("there are at least 300, each once, of every kind", () => {
    assert.ok(EVERYDAY.length >= 300);
    assert.equal(new Set(EVERYDAY.map(({ command }) => command)).size, EVERYDAY.length);
    for (const effect of ["none", "workspace", "outside"]) assert.ok(EVERYDAY.filter((row) => row.effect === effect).length >= 40, effect);
  });

  test("at least 95 % of those that change nothing pass", (t) => {
    assertMostPass(
      t,
      those(({ effect, secrets }) => effect === "none" && !secrets),
    );
  });

  test("those that only look at containers, clusters and GitHub pass", () => {
    assert.deepEqual(scoreEveryday(those(({ reads }) => reads === true)).rest, []);
  });

  test("none that shows secrets passes", () => assert.deepEqual(allowed(those(({ secrets }) => secrets === true)), []));

  test("none that changes the workspace passes", () => assert.deepEqual(allowed(those(({ effect }) => effect === "workspace")), []));

  test("none that reaches outside for more than a look passes", () =>
    assert.deepEqual(allowed(those(({ effect, reads }) => effect === "outside" && !reads)), []));
});

test("everyday commands in a sandbox, with allowConfined: at least 95 % of those that stay inside the workspace pass", {
  skip: withoutProgram("bwrap"),
}, (t) => {
  const verdicts = judgeEveryday(makeDirectory("confined"), { sandbox: "prefer", allowConfined: true });
  assertMostPass(
    t,
    verdicts.filter(({ row }) => row.effect !== "outside" && !row.secrets),
  );
});

function assertMostPass(t: TestContext, verdicts: readonly EverydayVerdict[]): void {
  const { share, rest } = scoreEveryday(verdicts);
  t.diagnostic(`${(100 * share).toFixed(1)} % of ${verdicts.length} pass; the rest:`);
  for (const line of rest) t.diagnostic(line);
  assert.ok(share >= 0.95, rest.join("\n"));
}

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

/** Faulty approvers, and the case that must detect each. */
const FAULTS: readonly (readonly [fault: string, ask: string, caughtBy: string])[] = [
  [
    "an answer that is kept for the next question",
    "async (approval, signal) => (kept = kept ? { ...kept, ...named(approval) } : await inner.ask(approval, signal))",
    "an answer given to one revision",
  ],
  [
    "an answer that names no revision",
    "async (approval, signal) => { const given = await inner.ask(approval, signal); return given && { ...given, revision: undefined }; }",
    "an answer given to one revision",
  ],
  ["silence taken for consent", "async (approval, signal) => (await inner.ask(approval, signal)) ?? yes(approval)", "it stops asking"],
  ["consent to unknown approvals", "async (approval) => yes(approval)", "asking never throws"],
];

const source = (path: string): string => JSON.stringify(fileURLToPath(new URL(`../../src/${path}`, import.meta.url)));

function suiteOn(name: string, ask: string): string {
  return `testApprover(${JSON.stringify(name)}, async () => {
    const people = new Map();
    const person = ({ id, revision }) => {
      const key = id + " " + revision;
      if (!people.has(key)) people.set(key, Promise.withResolvers());
      return people.get(key);
    };
    const inner = scriptedApprover((approval) => person(approval).promise);
    let kept;
    return { approver: { ...inner, ask: ${ask} }, answer: (approval, outcome) => person(approval).resolve(outcome) };
  });
  `;
}

const PRELUDE = `
const named = ({ id, revision, fingerprint }) => ({ approval: id, revision, fingerprint });
const yes = (approval) => ({ ...named(approval), outcome: "approve", by: {} });
`;

/** Runs the suite on all of them in another process and returns the output for each. */
function runSuites(): ReadonlyMap<string, string> {
  const directory = mkdtempSync(join(tmpdir(), "assent-suite-"));
  const file = join(directory, "suites.test.mjs");
  const imports = `import { scriptedApprover } from ${source("../testing/scripted-approver.ts")};
    import { testApprover } from ${source("../testing/approver-suite.ts")};\n`;
  const suites = [...FAULTS.map(([fault, ask]) => suiteOn(fault, ask)), suiteOn("whole", "inner.ask")];
  writeFileSync(file, imports + PRELUDE + suites.join(""));
  try {
    const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
    const { stdout } = spawnSync(process.execPath, ["--test-reporter=tap", file], { encoding: "utf8", env });
    return new Map(stdout.split(/^# Subtest: /m).map((part) => [part.slice(0, part.indexOf("\n")), part]));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe("testApprover", () => {
  let said: ReadonlyMap<string, string> = new Map();
  before(() => {
    said = runSuites();
  });

  for (const [fault, , caughtBy] of FAULTS)
    test(`finds ${fault}`, () => assert.match(said.get(fault) ?? "", new RegExp(`not ok \\d+ - ${caughtBy}`)));

  test("finds nothing wrong with one that keeps its word", () => {
    assert.match(said.get("whole") ?? "", /ok \d+ - an answer given to one revision/);
    assert.doesNotMatch(said.get("whole") ?? "", /not ok/);
  });
});

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { askProgram, type Entry, makeWorkspace, type Verdict } from "./ask-program.ts";

/** What a command must come to under a policy; `accept` is tolerated where `expected` is preferred. */
type Vector = {
  readonly id: string;
  readonly command: string;
  readonly policy: string;
  readonly expected: Verdict;
  readonly accept: readonly Verdict[];
  readonly why: string;
  readonly category: string;
  readonly setup?: Readonly<Record<string, Entry>>;
};

const HERE = import.meta.dirname;
const VECTORS: readonly Vector[] = JSON.parse(readFileSync(join(HERE, "shell.json"), "utf8"));
const BENIGN_SHARE = 0.95;

/** Commands that ask or are denied elsewhere, and that rules such as `Shell(git push *)` mean. */
const COVERED_BY_PREFIXES: readonly string[] = [
  'git commit -m "remove the rm -rf / call"',
  'echo "rm -rf /"',
  "git push",
  "git  push\torigin",
  "git fetch && npm test && git push",
  "npm run test",
  "npm test -- --globalSetup=./x.js",
];

/** The workspace every vector speaks of. */
const FILES: Readonly<Record<string, Entry>> = {
  "README.md": { text: "# Fixture\n" },
  "package.json": { text: '{ "name": "fixture", "version": "1.0.0", "scripts": { "test": "node --test" } }\n' },
  "src/index.ts": { text: "export {}\n" },
  "src/a.ts": { text: "export const a = 1 // TODO\n" },
  "src/b.ts": { text: "export const b = 2\n" },
  "test/a.test.ts": { text: "export {}\n" },
  "a.txt": { text: "one\ntwo\n" },
  "a b.txt": { text: "blank\n" },
  "data.txt": { text: "1 2 3\n" },
  ".env": { text: "EXAMPLE=1\n" },
  ".git/HEAD": { text: "ref: refs/heads/main\n" },
  ".git/config": { text: "[core]\n\trepositoryformatversion = 0\n\tbare = false\n" },
  ".git/objects": { dir: true },
  ".git/refs/heads": { dir: true },
};

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "assent-corpus-")));
after(() => rmSync(scratch, { recursive: true }));
const workspace = makeWorkspace(join(scratch, "workspace"), Object.assign({}, FILES, ...VECTORS.map(({ setup }) => setup ?? {})));

function verdicts(policy: string, vectors: readonly Vector[]): ReadonlyMap<string, Verdict> {
  const answers = askProgram(vectors, { scratch, workspace, policy: join(HERE, "policies", `${policy}.json`) });
  return new Map(answers.map(({ id, verdict }) => [id, verdict]));
}

describe("the corpus of shell commands", () => {
  const found = new Map<string, Verdict>();
  const wrong = (vectors: readonly Vector[]): readonly string[] =>
    vectors.flatMap(({ id, policy, expected, accept, command, why }) => {
      const got = found.get(id);
      return got && accept.includes(got) ? [] : [`${id} [${policy}] expected ${expected}, got ${got}: ${JSON.stringify(command)} (${why})`];
    });

  for (const policy of new Set(VECTORS.map((vector) => vector.policy))) {
    test(`${policy}: every command comes to a verdict that is accepted`, () => {
      const mine = VECTORS.filter((vector) => vector.policy === policy);
      for (const [id, verdict] of verdicts(policy, mine)) found.set(id, verdict);
      assert.deepEqual(wrong(mine), []);
    });
  }

  test("nothing unsafe is allowed", () => {
    assert.deepEqual(wrong(VECTORS.filter(({ id, accept }) => found.get(id) === "allow" && !accept.includes("allow"))), []);
    assert.equal(found.size, VECTORS.length);
  });

  test("rules that allow commands by their first words let nothing else through", () => {
    const others = VECTORS.filter(({ expected, policy }) => expected !== "allow" && policy !== "yolo");
    const allowed = [...verdicts("prefixes", others)].filter(([, verdict]) => verdict === "allow").map(([id]) => id);
    assert.deepEqual(
      others
        .filter(({ id }) => allowed.includes(id))
        .map(({ command }) => command)
        .filter((command) => !COVERED_BY_PREFIXES.includes(command)),
      [],
    );
  });

  test("no deny is weakened", () => assert.deepEqual(wrong(VECTORS.filter(({ expected }) => expected === "deny")), []));

  test("at least 95 % of what is harmless passes, or asks where asking is accepted", () => {
    const benign = VECTORS.filter(({ category }) => category === "benign-allow");
    const passed = benign.filter(({ id, accept }) => accept.includes(found.get(id) ?? "deny"));
    assert.ok(passed.length / benign.length >= BENIGN_SHARE, `${passed.length} of ${benign.length}`);
  });
});

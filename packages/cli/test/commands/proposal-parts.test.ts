import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { type Place, place } from "../support/assent.ts";

const FILLER = Array.from({ length: 12 }, (_, at) => `// ${at}`).join("\n");
/** Two hunks. */
const LONG = `old(1);\n${FILLER}\nold(2);\n`;
const NEW_LONG = LONG.replaceAll("old(", "fresh(");

type ShownHunk = {
  readonly id: string;
  readonly header: string;
  readonly lines: readonly { readonly kind: string; readonly text: string }[];
};
type ShownChange = { readonly name: string; readonly op: string; readonly hunks: readonly ShownHunk[] };
type StagedEdit = { readonly id: string; readonly changes: readonly ShownChange[]; readonly digest: string };

/** A rewrite of three files, staged. */
async function stageRewrite(at: Place): Promise<StagedEdit> {
  mkdirSync(at.path("src"), { recursive: true });
  writeFileSync(at.path("src/long.ts"), LONG);
  for (const name of ["a", "b"]) writeFileSync(at.path(`src/${name}.ts`), `old("${name}");\n`);
  const input = JSON.stringify({ ops: [{ pat: "old($A)", out: "fresh($A)" }], paths: ["src"] });
  const { value } = await at.hereJson(["call", "ast_edit", "--input", input]);
  const id = /staged as (p_\w+)/.exec(value.content)?.[1] ?? assert.fail(value.content);
  const shown = await at.hereJson(["proposals", "show", id]);
  return { id, changes: shown.value.changes, digest: shown.value.digest };
}

const texts = (at: Place): readonly string[] => ["a", "b", "long"].map((name) => readFileSync(at.path(`src/${name}.ts`), "utf8"));
const OLD = ['old("a");\n', 'old("b");\n', LONG];
const hunksOf = ({ changes }: StagedEdit, name: string): readonly string[] =>
  changes.find((change) => change.name === name)?.hunks.map(({ id }) => id) ?? [];

describe("a part of a proposal, from the command line", () => {
  test("show names every file and hunk, the same ids each time", async () => {
    using at = place();
    const staged = await stageRewrite(at);
    assert.deepEqual(
      staged.changes.map(({ name, op, hunks }) => [name, op, hunks.length]),
      [
        ["src/a.ts", "modify", 1],
        ["src/b.ts", "modify", 1],
        ["src/long.ts", "modify", 2],
      ],
    );
    const { stdout } = await at.here(["proposals", "show", staged.id]);
    assert.match(stdout, /changes\s+3 files, \+4 -4/);
    for (const id of staged.changes.flatMap(({ hunks }) => hunks.map((hunk) => hunk.id))) assert.match(stdout, new RegExp(`@@ {2}${id}\n`));
    assert.match(stdout, / - old\("a"\);\n.* \+ fresh\("a"\);\n/);
    const folded = await at.here(["proposals", "show", staged.id, "--folded"]);
    assert.match(folded.stdout, /▸ src\/a\.ts {2}\+1 -1\n▸ src\/b\.ts {2}\+1 -1\n▸ src\/long\.ts {2}\+2 -2\n/);
    assert.doesNotMatch(folded.stdout, /@@/);
    const one = await at.here(["proposals", "show", staged.id, "--file", "src/b.ts"]);
    assert.match(one.stdout, /fresh\("b"\)/);
    assert.doesNotMatch(one.stdout, /src\/a\.ts/);
    const page = await at.here(["proposals", "show", staged.id, "--page", "1"]);
    assert.match(page.stdout, /\nPage 1 of 1\.\n/);
    assert.equal((await at.here(["proposals", "show", staged.id, "--file", "no.ts"])).code, 2);
  });

  const CHOICES: readonly (readonly [name: string, options: (staged: StagedEdit) => readonly string[], after: readonly string[]])[] = [
    ["a file", () => ["--file", "src/b.ts"], ['old("a");\n', 'fresh("b");\n', LONG]],
    [
      "a file and a hunk of another",
      (staged) => ["--file", "./src/a.ts", "--hunk", hunksOf(staged, "src/long.ts")[1] ?? ""],
      ['fresh("a");\n', 'old("b");\n', LONG.replace("old(2)", "fresh(2)")],
    ],
    ["all hunks of a file", (staged) => hunksOf(staged, "src/long.ts").flatMap((id) => ["--hunk", id]), [...OLD.slice(0, 2), NEW_LONG]],
  ];
  for (const [name, options, after] of CHOICES) {
    test(`apply makes only what is chosen, and undo takes back only that: ${name}`, async () => {
      using at = place();
      const staged = await stageRewrite(at);
      const { code, value } = await at.hereJson(["apply", staged.id, ...options(staged), "--reason", "enough"]);
      assert.deepEqual([code, value.outcome, value.alreadyAnswered], [0, "applied", false], JSON.stringify(value));
      assert.notEqual(value.id, staged.id);
      assert.deepEqual(texts(at), after);
      const part = (await at.hereJson(["proposals", "show", value.id])).value;
      assert.deepEqual([part.state, part.part], ["applied", { of: staged.id, digest: staged.digest }]);
      assert.notEqual(part.digest, staged.digest);
      assert.match((await at.here(["proposals", "show", staged.id])).stdout, new RegExp(`superseded by ${value.id}`));
      assert.match((await at.here(["proposals", "show", value.id])).stdout, new RegExp(`part of +${staged.id}`));
      assert.equal((await at.here(["undo", value.id])).code, 0);
      assert.deepEqual(texts(at), OLD);
    });
  }

  test("a part as JSON may have other content", async () => {
    using at = place();
    const { id } = await stageRewrite(at);
    writeFileSync(at.path("part.json"), JSON.stringify({ files: [{ path: "src/a.ts", content: "mine\n" }] }));
    assert.equal((await at.here(["apply", id, "--part", "part.json"])).code, 0);
    assert.deepEqual(texts(at), ["mine\n", ...OLD.slice(1)]);
  });

  const WRONG: readonly (readonly [name: string, options: readonly string[], code: number, says: RegExp])[] = [
    ["an unknown file", ["--file", "src/c.ts"], 2, /^assent: p_\w+ does not change src\/c\.ts\./],
    ["an unknown hunk", ["--hunk", "h_0"], 2, /has no hunk h_0\. Nothing was applied\./],
    ["both notations", ["--file", "src/a.ts", "--part", "x.json"], 2, /give either --part, or --file and --hunk/],
    ["a part that is not there", ["--part", "x.json"], 2, /cannot read the file 'x\.json'/],
  ];
  for (const [name, options, code, says] of WRONG) {
    test(`a wrong choice applies nothing, and the proposal stays pending: ${name}`, async () => {
      using at = place();
      const { id } = await stageRewrite(at);
      const ended = await at.here(["apply", id, ...options]);
      assert.deepEqual([ended.code, says.test(ended.stderr)], [code, true], ended.stderr);
      if (name.startsWith("an unknown")) assert.match(ended.stderr, new RegExp(`See: assent proposals show ${id}`));
      assert.deepEqual(texts(at), OLD);
      assert.equal((await at.hereJson(["proposals"])).value[0]?.state, "staged");
    });
  }
});

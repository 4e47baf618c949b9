import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Place, place } from "../packages/cli/test/support/assent.ts";

const POLICIES = join(import.meta.dirname, "../examples/policy");
const FILES = readdirSync(POLICIES).filter((name) => name.startsWith("cookbook-"));

/** A recipe of the page: its heading, the settings it quotes, and the rows of its table. */
type Recipe = { readonly title: string; readonly file: string; readonly rows: readonly (readonly string[])[] };

const RECIPES: readonly Recipe[] = readFileSync(join(import.meta.dirname, "../docs/cookbook.md"), "utf8")
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    file: /^\/\/ examples\/policy\/(\S+\.json)$/m.exec(section)?.[1] ?? "",
    rows: [...section.matchAll(/^\| `(.+)` \| (\w+) \| (\w+) \|$/gm)].map((row) => row.slice(1)),
  }));

/** A workspace with all recipes, and what their rows speak of. */
function kitchen(): Place {
  const at = place();
  for (const name of FILES) copyFileSync(join(POLICIES, name), at.path(name));
  for (const folder of [".assent", "src", "secrets"]) mkdirSync(at.path(folder));
  copyFileSync(join(POLICIES, "cookbook-no-keys.sh"), at.path(".assent/no-keys.sh"));
  at.write("package.json", JSON.stringify({ scripts: { test: "node --test" } }));
  at.write("src/a.ts", "export {};\n");
  at.write("secrets/key.txt", "key\n");
  return at;
}

/** The input that a row's words stand for: `write src/a.ts`. */
function inputOf(tool: string, words: string): object {
  switch (tool) {
    case "shell":
      return { command: words };
    case "read":
      return { file_path: words };
    case "write":
      return { file_path: words, content: "" };
    case "fetch":
      return { url: words };
    case "agent":
      return { agent: words, description: "a task", prompt: "Do it." };
    default:
      throw new Error(`no input is known for ${tool}`);
  }
}

async function verdicts(at: Place, { file, rows }: Recipe, flags: readonly string[]): Promise<readonly string[]> {
  const calls = rows.map(([call = ""], id) => {
    const [, tool = "", words = ""] = /^(\w+) (.*)$/.exec(call) ?? [];
    return JSON.stringify({ id: String(id), tool, input: inputOf(tool, words) });
  });
  const ran = await at.here(["explain", "--policy", file, "--batch", "-", ...flags], { input: calls.join("\n") });
  if (ran.code === 2 && ran.stderr.includes("mode_locked")) return rows.map(() => "refused");
  assert.equal(ran.code, 0, ran.stderr);
  return ran.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).verdict);
}

describe("docs/cookbook.md", () => {
  test("there are recipes, each with settings of its own, and no settings without a recipe", () => {
    const settings = FILES.filter((name) => name.endsWith(".json"));
    assert.ok(RECIPES.length >= 10);
    assert.deepEqual(RECIPES.map(({ file }) => file).sort(), settings.sort());
  });

  for (const recipe of RECIPES) {
    test(`${recipe.title}: the settings are sound, and the verdicts are as it says`, async () => {
      using at = kitchen();
      const { code, stdout } = await at.here(["policy", "check", recipe.file]);
      assert.equal(code, 0, stdout);
      const wanted = (column: number): readonly (string | undefined)[] => recipe.rows.map((row) => row[column]);
      if (recipe.rows.length === 0) return;
      assert.deepEqual(await verdicts(at, recipe, []), wanted(1));
      assert.deepEqual(await verdicts(at, recipe, ["--mode", "yolo"]), wanted(2));
    });
  }

  test("only the recipe of the hook has no rows: explain runs no hook", () => {
    const bare = RECIPES.filter(({ rows }) => rows.length === 0).map(({ file }) => file);
    assert.deepEqual(bare, ["cookbook-secret-hook.json"]);
  });

  for (const [sentence, content, type] of [
    ["a key is refused, in yolo too", "-----BEGIN RSA PRIVATE KEY-----\nabc\n", "denied_by_hook"],
    ["anything else passes", "hello\n", null],
  ]) {
    test(`the hook that finds keys: ${sentence}`, async () => {
      using at = kitchen();
      copyFileSync(join(POLICIES, "cookbook-secret-hook.json"), at.path(".assent/settings.json"));
      assert.equal((await at.here(["trust", "--yes"])).code, 0);
      const input = JSON.stringify({ file_path: "note.txt", content });
      const { value } = await at.hereJson(["call", "write", "--mode", "yolo", "--input", input]);
      assert.equal(value.type, type, value.content);
      assert.equal(existsSync(at.path("note.txt")), type === null);
    });
  }

  test("the hook that finds keys: given with --policy, it is not started in a workspace that nobody trusts", async () => {
    using at = kitchen();
    const input = JSON.stringify({ file_path: "note.txt", content: "hello\n" });
    const { value } = await at.hereJson(["call", "write", "--policy", "cookbook-secret-hook.json", "--mode", "yolo", "--input", input]);
    assert.deepEqual([value.type, existsSync(at.path("note.txt"))], ["denied_by_hook", false], value.content);
  });

  test("staged edits wait for a person, whatever the model says", async () => {
    using at = kitchen();
    at.write(
      "script.yaml",
      `turns:
  - calls: [{ tool: write, id: c1, input: { file_path: src/b.ts, content: "b" } }]
  - calls: [{ tool: resolve, id: c2, input: { action: apply, reason: "done" } }]
  - say: Done.
`,
    );
    const ran = await at.here(["run", "Go.", "--model", "script:script.yaml", "--policy", "cookbook-stage.json", "--mode", "yolo"]);
    assert.equal(ran.code, 0, ran.stderr);
    assert.equal(existsSync(at.path("src/b.ts")), false);
    const { value } = await at.hereJson(["proposals"]);
    assert.equal(value.length, 1);
    assert.equal((await at.here(["apply", value[0].id])).code, 0);
    assert.equal(readFileSync(at.path("src/b.ts"), "utf8"), "b");
  });
});

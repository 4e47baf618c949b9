/** A call of the scripted model. */
type DayCall = { readonly tool: string; readonly id: string; readonly input: object };

/** A task of the day: what the person asks for, and the turns of the model until it says that the task is done. */
export type DayTask = {
  readonly prompt: string;
  readonly turns: readonly { readonly say?: string; readonly calls?: readonly DayCall[] }[];
  readonly done: string;
};

/** The project at the beginning of the day. */
export const PROJECT: Readonly<Record<string, string>> = {
  "package.json": `${JSON.stringify(
    {
      name: "shop",
      version: "1.0.0",
      private: true,
      type: "module",
      scripts: { test: "node --test", lint: "node scripts/lint.mjs", build: "node scripts/build.mjs" },
    },
    null,
    2,
  )}\n`,
  "src/cart.js": "export function total(items) {\n  let sum = 0;\n  for (const item of items) sum += item.price;\n  return sum;\n}\n",
  "src/price.js": 'export function format(cents) {\n  return (cents / 100).toFixed(2) + " EUR";\n}\n',
  "test/cart.test.js":
    'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { total } from "../src/cart.js";\n\ntest("an empty cart", () => assert.equal(total([]), 0));\n',
  "scripts/lint.mjs": 'console.log("no problems");\n',
  "scripts/build.mjs":
    'import { cpSync, mkdirSync } from "node:fs";\nmkdirSync("dist", { recursive: true });\ncpSync("src", "dist", { recursive: true });\nconsole.log("built");\n',
  "vendor/pad/package.json": '{ "name": "pad", "version": "1.0.0", "main": "index.js" }\n',
  "vendor/pad/index.js": "module.exports = (text) => text;\n",
  "README.md": "# Shop\n",
  ".gitignore": "node_modules\ndist\n",
};

let calls = 0;

function call(tool: string, input: object): DayCall {
  calls += 1;
  return { tool, id: `c${calls}`, input };
}

const shell = (command: string): DayCall => call("shell", { command });
const read = (name: string): DayCall => call("read", { file_path: name });
const edit = (name: string, before: string, after: string): DayCall =>
  call("edit", { file_path: name, old_string: before, new_string: after });
const write = (name: string, content: string): DayCall => call("write", { file_path: name, content });

/** A task whose calls come one turn each, as models make them. */
function task(prompt: string, done: string, ...steps: readonly (DayCall | readonly DayCall[])[]): DayTask {
  const turns = steps.map((step) => ({ calls: Array.isArray(step) ? step : [step] }));
  return { prompt, done, turns: [...turns, { say: done }] };
}

const TEST_DISCOUNT =
  'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { discount } from "../src/discount.js";\n\ntest("ten percent", () => assert.equal(discount(100), 90));\n';

/** A working day: reading, edits, tests, installs, builds and commits, about 60 calls. */
export const DAY: readonly DayTask[] = [
  task(
    "Simplify the total of a cart.",
    "The total is simpler now.",
    [read("src/cart.js"), read("test/cart.test.js"), call("search", { pattern: "total", path: "src" })],
    shell("git status"),
    edit(
      "src/cart.js",
      "  let sum = 0;\n  for (const item of items) sum += item.price;\n  return sum;\n",
      "  return items.reduce((sum, item) => sum + item.price, 0);\n",
    ),
    shell("npm test"),
    shell("git diff"),
    shell("git add -A"),
    shell('git commit -m "Simplify the total"'),
  ),
  task(
    "Add a discount with a test.",
    "The discount is tested and committed.",
    shell("ls -la src"),
    write("src/discount.js", "export function discount(cents) {\n  return Math.round(cents * 0.8);\n}\n"),
    write("test/discount.test.js", TEST_DISCOUNT),
    shell("npm test"),
    read("src/discount.js"),
    edit("src/discount.js", "0.8", "0.9"),
    shell("npm test"),
    shell("npm run lint"),
    shell("git add src/discount.js test/discount.test.js"),
    shell('git commit -m "Add a discount"'),
  ),
  task(
    "Use the pad package for prices.",
    "Prices are padded.",
    read("src/price.js"),
    read("package.json"),
    shell("npm install ./vendor/pad --no-audit --no-fund --offline"),
    edit("src/price.js", "export function format", 'import pad from "pad";\n\nexport function format'),
    edit("src/price.js", '(cents / 100).toFixed(2) + " EUR"', 'pad((cents / 100).toFixed(2)) + " EUR"'),
    shell("node -e \"import('./src/price.js').then((price) => console.log(price.format(100)))\""),
    shell("npm test"),
    shell("git diff --stat"),
    shell("git add -A && git commit -m 'Pad prices'"),
  ),
  task(
    "Why did the build fail yesterday?",
    "It does not fail any more.",
    shell("git log --oneline -5"),
    shell("cat scripts/build.mjs"),
    shell("npm run build"),
    shell("ls dist"),
    shell("rm -rf dist"),
    shell("npm run build 2>&1 | tail -5"),
  ),
  task(
    "Rename total to sumOf everywhere, on a branch.",
    "Everything is renamed.",
    shell("git checkout -b rename-total"),
    shell("grep -rn total src test"),
    [read("src/cart.js"), read("test/cart.test.js")],
    edit("src/cart.js", "function total", "function sumOf"),
    call("edit", { file_path: "test/cart.test.js", old_string: "total", new_string: "sumOf", replace_all: true }),
    shell("npm test"),
    shell("git commit -am 'Rename total'"),
    shell("git checkout main"),
    shell("git merge rename-total"),
  ),
  task(
    "Write a changelog and tidy up.",
    "The changelog is there.",
    shell("git log --format=%s"),
    write("CHANGELOG.md", "# Changes\n\n- A discount\n- Padded prices\n"),
    read("README.md"),
    edit("README.md", "# Shop\n", "# Shop\n\nSee CHANGELOG.md.\n"),
    shell("sed -n 1,20p README.md"),
    shell("mkdir -p docs"),
    shell("mv CHANGELOG.md docs/CHANGELOG.md"),
    shell("git add -A"),
    shell('git commit -m "Add a changelog"'),
  ),
  task(
    "Release it.",
    "It is released.",
    shell("git status --short"),
    shell("npm version patch --no-git-tag-version"),
    shell("npm test && npm run lint"),
    shell("npm run build"),
    shell("git commit -am 'Release 1.0.1'"),
    shell("git tag v1.0.1"),
    shell("git push origin main"),
  ),
];

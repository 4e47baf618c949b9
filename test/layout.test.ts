import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, test } from "node:test";

/** The shape of the tree: no import cycles, small folders, tests named by sentences. */
const ROOT = join(import.meta.dirname, "..");
const SOURCES = list("packages/*/{src,testing}/**/*.{ts,tsx}");

describe("imports", () => {
  test("the search for cycles finds a planted one", () => {
    const planted = new Map([
      ["a.ts", ["b.ts"]],
      ["b.ts", ["c.ts"]],
      ["c.ts", ["b.ts"]],
      ["d.ts", ["a.ts"]],
    ]);
    assert.deepEqual(findCycles(planted), [["b.ts", "c.ts"]]);
  });

  test("no files import each other in a circle, types included", () => {
    assert.ok(SOURCES.length > 0);
    const imports = new Map(SOURCES.map((file) => [file, relativeImports(file)]));
    assert.deepEqual(findCycles(imports), [], "Move what both files need into a third one.");
  });
});

describe("folders", () => {
  const MOST = 25;
  /** Lists of equals: a newcomer looks for one file by its name and reads no other. */
  const LISTS: readonly string[] = ["packages/cli/src/commands", "packages/policy/src/shell/programs", "packages/tools/src/builtin"];

  test(`a folder has at most ${MOST} source files, unless it is a list of commands, programs or tools`, () => {
    const folders = Map.groupBy(SOURCES, (file) => dirname(file));
    const large = [...folders].filter(([folder, files]) => files.length > MOST && !LISTS.includes(folder));
    assert.deepEqual(
      large.map(([folder, files]) => `${folder}: ${files.length} files`),
      [],
      "Give a topic its own folder, or merge files that are only opened together.",
    );
  });

  test("every folder that may be larger exists", () => {
    for (const folder of LISTS)
      assert.ok(
        SOURCES.some((file) => dirname(file) === folder),
        folder,
      );
  });
});

describe("names of tests", () => {
  const CODE = /["'`](?:[A-Z]{1,3}-?\d{1,3}[a-z]?|(?:[a-z]+ )?[Ss]ections? \d[\d.]*)(?:[-, ][^:"'`]{0,12})?: /;

  test("are sentences without codes of documents elsewhere", () => {
    for (const name of ['test("B37: a call ends once"', '["RS-39, RS-40: a row"', 'test("section 6: hooks"', '["hooks section 6.2: a row"'])
      assert.match(name, CODE);
    const files = list("{packages/*/test,packages/core/testing,test}/**/*.ts").filter((file) => file !== "test/layout.test.ts");
    assert.ok(files.length > 0);
    const found = files.flatMap((file) =>
      read(file)
        .split("\n")
        .flatMap((line, index) => (CODE.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
    );
    assert.deepEqual(found, []);
  });
});

function list(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: ROOT, exclude: (name) => /(?:^|\/)(?:node_modules|dist)$/.test(String(name)) }).sort();
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

function relativeImports(file: string): readonly string[] {
  const pattern = /^(?:import|export)\b[^;"]*?\bfrom "(\.[^"]+)"|^import "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gm;
  return [...read(file).matchAll(pattern)].map(([, from, effect, inside]) =>
    normalize(join(dirname(file), from ?? effect ?? inside ?? "")),
  );
}

/** Groups of files that can all reach each other (Tarjan's algorithm). */
function findCycles(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): number => {
    const index = order.size;
    order.set(file, index);
    let low = index;
    open.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!imports.has(next)) continue;
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, lowest.get(next) ?? order.get(next) ?? low);
    }
    lowest.set(file, low);
    if (low === index) {
      const group = open.splice(open.indexOf(file));
      if (group.length > 1) cycles.push(group.sort());
    }
    return low;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return cycles;
}

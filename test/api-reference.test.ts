import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

const ROOT = join(import.meta.dirname, "..");
const FOLDER = join(ROOT, "docs/api");

/** Entries that are no API: only another package of the same version may import them, which test/architecture.test.ts checks. */
const INTERNAL = ["core-setup.md", "store-parts.md"];

describe("the API reference", () => {
  test("is what the sources say, and every export has a sentence", () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/api-reference.mjs", "--check"], { cwd: ROOT, encoding: "utf8" });
    assert.equal(status, 0, stderr);
  });

  test("has a page for every entry of the published libraries that programs may import", () => {
    const libraries = readdirSync(join(ROOT, "packages")).filter((name) => name !== "cli");
    const entries = libraries.flatMap((name) => {
      const { exports } = JSON.parse(readFileSync(join(ROOT, "packages", name, "package.json"), "utf8"));
      return Object.keys(exports).map((entry) => `${name}${entry.slice(1).replace("/", "-")}.md`);
    });
    assert.ok(entries.length >= 10);
    assert.deepEqual(
      INTERNAL.filter((page) => !entries.includes(page)),
      [],
    );
    const pages = entries.filter((page) => !INTERNAL.includes(page));
    assert.deepEqual(readdirSync(FOLDER).toSorted(), ["README.md", "names.txt", ...pages].toSorted());
  });

  test("no page has a heading twice at one address, or an address that leads nowhere", () => {
    for (const file of readdirSync(FOLDER)) {
      const text = readFileSync(join(FOLDER, file), "utf8");
      const links = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
      const headings = text.replace(/```ts[\s\S]*?```/g, "").match(/^#{2,3} .+$/gm) ?? [];
      assert.equal(new Set(links).size, links.length, file);
      assert.equal(links.length, headings.length, file);
    }
  });
});

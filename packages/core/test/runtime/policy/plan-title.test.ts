import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { planTitle } from "../../../src/runtime/policy/plan-mode.ts";

const CASES: readonly [sentence: string, given: unknown, plan: string, title: string][] = [
  ["blanks become hyphens", "Add OAuth login", "", "Add-OAuth-login"],
  ["one trailing .md is removed", "auth.md", "", "auth"],
  ["a title that is not a string is skipped for the heading", {}, "# Fix cache", "Fix-cache"],
  ["blank, no heading, no name of its own", "  ", "no heading", "plan"],
  ["a heading inside a code fence is ignored", undefined, "```\n# Not me\n```\n", "plan"],
  ["a heading behind a code fence counts", undefined, "~~~\n# Not me\n~~~\n# Me", "Me"],
  ["a fence of four is not closed by three", undefined, "````\n```\n# Not me\n````\n# Me", "Me"],
  ["letters of any language stay", "Émile & co", "", "Émile-co"],
  ["a heading with separators is cleaned instead of refused", undefined, "# a/b\\c", "abc"],
  ["a second-level heading is ignored", undefined, "## Two\n# One", "One"],
  ["dots and hyphens at the ends go", "..--x--..", "", "x"],
  ["a device's name gets a tail", "con", "", "con-plan"],
  ["a device's name with an ending too", "NUL.txt", "", "NUL.txt-plan"],
  ["it is cut at 64 characters", "x".repeat(80), "", "x".repeat(64)],
  ["a number, null and a list are passed over", 3, "", "plan"],
  ["marks alone leave nothing", "&&&", "# H", "H"],
];

describe("a plan's title", () => {
  for (const [sentence, given, plan, title] of CASES) test(sentence, () => assert.deepEqual(planTitle(given, plan, undefined), { title }));
  for (const given of ["../x", "a\\b", "a\0b"]) {
    test(`${JSON.stringify(given)} is refused`, () =>
      assert.deepEqual(planTitle(given, "# Fine", undefined), { fault: "title must not contain path separators" }));
  }
  test("a file's own name is used where it has one", () => assert.deepEqual(planTitle(undefined, "", "old-plan"), { title: "old-plan" }));
});

import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import type { PathFact } from "../../src/paths/lookup.ts";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { scratch } from "../scratch.ts";
import { faultOf, OPTIONS, path, pathRequest, rule, says } from "./rule-bench.ts";

type Row = readonly [sentence: string, specifier: string, path: string, allow: boolean, deny: boolean];

const table: readonly Row[] = [
  ["a name is meant at any depth", ".env", "/w/app/a/b/.env", true, true],
  ["a name is meant at the top", ".env", "/w/app/.env", true, true],
  ["a name is not meant outside the workspace", ".env", "/w/other/.env", false, false],
  ["comparison is by component, never by text prefix", "src", "/w/app-evil/src", false, false],
  ["a directory is not the start of a longer name", "./src", "/w/app/src-evil/x", false, false],
  ["a path with a slash is seen from the workspace", "src/a.ts", "/w/app/src/a.ts", true, true],
  ["a path with a slash is not meant deeper", "src/a.ts", "/w/app/x/src/a.ts", false, false],
  ["a dot is the workspace", "./a.ts", "/w/app/a.ts", true, true],
  ["./name is not meant at any depth", "./a.ts", "/w/app/x/a.ts", false, false],
  ["a slash is the settings' root", "/a.ts", "/w/app/a.ts", true, true],
  ["a tilde is the home", "~/notes/*", "/home/u/notes/x", true, true],
  ["two slashes are the whole path", "//etc/hosts", "/etc/hosts", true, true],
  ["two slashes alone are everything", "//", "/etc/hosts", true, true],
  ["a directory means everything in it", "build", "/w/app/x/build/a/b", true, true],
  ["a directory with a slash behind it is the same", "build/", "/w/app/x/build/a/b", true, true],
  ["two stars cross directories", "src/**/x.ts", "/w/app/src/a/b/x.ts", true, true],
  ["two stars cross no directory, too", "src/**/x.ts", "/w/app/src/x.ts", true, true],
  ["one star does not cross a directory", "src/*/x.ts", "/w/app/src/a/b/x.ts", false, false],
  ["a question mark is one character", "a?.ts", "/w/app/ab.ts", true, true],
  ["a question mark does not match a slash", "./a?b", "/w/app/a/b", false, false],
  ["a class", "[ab].ts", "/w/app/b.ts", true, true],
  ["dot files are matched", "*", "/w/app/.hidden", true, true],
  ["a final ** means what is below", "src/**", "/w/app/src/x", true, true],
  ["a final ** of an allow is not the directory itself, of a deny it is", "src/**", "/w/app/src", false, true],
  ["stars in several places", "**/a/**/b/*.c", "/w/app/x/a/a/y/b/z.c", true, true],
  ["stars that do not fit", "**/a/**/b/*.c", "/w/app/x/a/y/b/z/z.d", false, false],
  ["another case is denied, not allowed", ".env", "/w/app/.ENV", false, true],
  ["a trailing dot is denied, not allowed", ".env", "/w/app/.env.", false, true],
  ["a trailing blank is denied, not allowed", ".env", "/w/app/.env ", false, true],
  ["the case of a directory", "src/**", "/w/app/SRC/x", false, true],
  ["the case of the workspace itself", "./x", "/W/App/x", false, true],
  ["a letter that grows when folded", "straße", "/w/app/STRASSE", false, true],
  ["decomposed is the same name", "caf\u00e9", "/w/app/cafe\u0301", true, true],
  ["an escaped star is a star", "\\*.ts", "/w/app/a.ts", false, false],
  ["an escaped star means itself", "\\*.ts", "/w/app/*.ts", true, true],
  ["a class that cannot be folded still denies", "[Z-a]", "/w/app/a", true, true],
  ["blanks around a specifier do not count", " .env ", "/w/app/.env", true, true],
];

for (const [sentence, specifier, lexical, allow, deny] of table) {
  test(sentence, () => {
    const about = pathRequest("read", path(lexical));
    assert.equal(says(rule("allow", `Read(${specifier})`), about), allow ? "yes" : "no");
    assert.equal(says(rule("deny", `Read(${specifier})`), about), deny ? "yes" : "no");
    assert.equal(says(rule("ask", `Read(${specifier})`), about), deny ? "yes" : "no");
  });
}

for (const [tool, group] of [
  ["read", "Read"],
  ["write", "Edit"],
] as const) {
  test(`${group} covers a tool that reports locations, whatever its arguments are called`, () => {
    const like = OPTIONS.tools.get(tool) ?? { kind: "other" };
    const get = (name: string): typeof like | undefined => (name === "own" ? { ...like, pathArgs: [] } : undefined);
    const options = { ...OPTIONS, tools: { get, names: () => ["own"] } };
    const about = { ...pathRequest(tool, path("/w/app/private/a")), tool: "own" };
    assert.equal(says(rule("deny", `${group}(private/**)`, options), about), "yes");
    assert.equal(says(rule("deny", "own(private/**)", options), about), "yes");
    assert.equal(says(rule("deny", `${group}(other/**)`, options), about), "no");
  });
}

test("the settings of a user start at the home", () => {
  const options = { ...OPTIONS, roots: { ...OPTIONS.roots, settingsRoot: "/home/u" } };
  assert.equal(says(rule("deny", "Read(/.ssh)", options), pathRequest("read", path("/home/u/.ssh/id"))), "yes");
  assert.equal(says(rule("deny", "Read(/.ssh)", options), pathRequest("read", path("/w/app/.ssh/id"))), "no");
});

test("a deny is looked for in the additional directories, an allow is not", () => {
  const options = { ...OPTIONS, roots: { ...OPTIONS.roots, additionalDirectories: ["/data"] } };
  assert.equal(says(rule("deny", "Read(.env)", options), pathRequest("read", path("/data/x/.env"))), "yes");
  assert.equal(says(rule("allow", "Read(.env)", options), pathRequest("read", path("/data/x/.env"))), "no");
});

test("an allow does not hold where a link leads out, a deny holds for either spelling", () => {
  const linked = pathRequest("edit", path("/w/app/src/out/x", { real: "/var/www/x" }));
  assert.equal(says(rule("allow", "Edit(src/**)"), linked), "no");
  assert.equal(says(rule("deny", "Edit(src/**)"), linked), "yes");
  assert.equal(says(rule("deny", "Edit(//var/www)"), linked), "yes");
});

test("the same on a disk", (t) => {
  const top = scratch(t);
  symlinkSync("/var/empty", join(top, "out"));
  const look = createPathLookup({ workspace: top });
  const options = { ...OPTIONS, roots: { ...OPTIONS.roots, workspace: top } };
  const about = (name: string): ReturnType<typeof pathRequest> => pathRequest("edit", look(name, top));
  assert.equal(says(rule("allow", "Edit(**)", options), about("in/x")), "yes");
  assert.equal(says(rule("allow", "Edit(**)", options), about("out/x")), "no");
  assert.equal(says(rule("allow", "Edit", options), about("a\nb")), "no");
});

const unsettled: readonly (readonly [sentence: string, about: Partial<PathFact>, tool: string, allow: string, deny: string])[] = [
  ["a path that cannot be resolved is not allowed, and a deny is in doubt", { real: null, hazards: [hazard()] }, "read", "no", "doubt"],
  ["a path with a hazard is not allowed", { hazards: [hazard()], writeHazards: [hazard()] }, "read", "no", "no"],
  ["a file with other names is not allowed to be written", { writeHazards: [hazard()] }, "edit", "no", "no"],
  ["a tool that may write is not allowed either", { writeHazards: [hazard()] }, "t", "no", "no"],
  ["it may be read", { writeHazards: [hazard()] }, "read", "yes", "no"],
];

for (const [sentence, about, tool, allow, deny] of unsettled) {
  test(sentence, () => {
    const asked = pathRequest(tool, path("/w/app/x", about));
    assert.equal(says(rule("allow", tool), asked), allow);
    assert.equal(says(rule("allow", "*"), asked), allow);
    if (tool === "t") return;
    assert.equal(says(rule("allow", `${tool}(x)`), asked), allow);
    assert.equal(says(rule("deny", `${tool}(y)`), asked), deny);
  });
}

test("a unit without facts is not allowed by a path, and a deny is in doubt", () => {
  const about = { ...pathRequest("read", path("/w/app/x")), units: [{ subject: "x", data: { path: path("/w/app/x") } }] };
  assert.equal(says(rule("allow", "Read(x)"), about), "no");
  assert.equal(says(rule("deny", "Read(x)"), about), "doubt");
});

const faults: readonly (readonly [sentence: string, specifier: string, type: string])[] = [
  ["'..' leads nowhere", "../x", "rule_syntax"],
  ["'..' in the middle", "a/../b", "rule_syntax"],
  ["another user's home", "~root/x", "rule_syntax"],
  ["an exception", "!x", "rule_syntax"],
  ["braces would silently guard nothing", "*.{env,key}", "rule_syntax"],
  ["an unclosed class", "a[b", "rule_bad_glob"],
  ["a class over a slash", "[a/b]", "rule_bad_glob"],
  ["a trailing backslash", "a\\", "rule_bad_glob"],
];

for (const [sentence, specifier, type] of faults) {
  for (const verdict of ["allow", "ask", "deny"] as const) {
    test(`${sentence}: no path rule (${verdict})`, () => assert.equal(faultOf(verdict, `Read(${specifier})`).type, type));
  }
}

test("a broken glob is reported at its column", () => assert.equal(faultOf("deny", "Read(src/a[b/c)").column, 11));

function hazard(): PathFact["hazards"][number] {
  return { id: "path_unresolved", text: "odd" };
}

const name = fc.constantFrom("a", "A", "b.", ".env", "ß", "SS", "x y", "é", "e\u0301", "ab");
const glob = fc.constantFrom("a", "A", "*", "?", "**", "b?", "b.", "[a-z]", "[ß]", ".e*", "é", "a*", "\\a");

test("a deny matches everything that an allow of the same text matches", () => {
  fc.assert(
    fc.property(fc.array(glob, { minLength: 1, maxLength: 4 }), fc.array(name, { maxLength: 5 }), (globs, names) => {
      const text = `Read(./${globs.join("/")})`;
      const about = pathRequest("read", path(["/w/app", ...names].join("/")));
      if (says(rule("allow", text), about) === "yes") assert.equal(says(rule("deny", text), about), "yes");
    }),
  );
});

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, test } from "node:test";
import { readProjectConfiguration } from "@assent/policy";
import { discoverModules } from "../../src/custom/discover.ts";
import { type Place, place, summary, toolModule } from "./bench.ts";

type Rows = { readonly modules: readonly string[]; readonly failed: readonly string[]; readonly untrusted: readonly string[] };

function discover(at: Place, over: { explicit?: readonly string[]; trusted?: boolean } = {}): Rows {
  const { folders, trusted } = at.options();
  const { modules, failed, untrusted } = discoverModules({ folders, cwd: at.root, trusted, ...over });
  const short = (path: string): string => relative(at.root, path);
  return {
    modules: modules.map(({ source }) => `${source.level} ${short(source.file)}`),
    failed: failed.map(({ file, type, reason }) => `${short(file)}: ${type}: ${reason.replaceAll(`${at.root}/`, "")}`),
    untrusted: untrusted.map(short),
  };
}

describe("discovery", () => {
  test("folders that are not there hold nothing", (t) => {
    assert.deepEqual(discover(place(t)), { modules: [], failed: [], untrusted: [] });
  });

  test("modules and indexes of subfolders are found, in the order of their paths, the user's first", (t) => {
    const at = place(t);
    for (const name of ["z.ts", "b.mts", "c.cts", "d.js", "e.mjs", "f.cjs", "a/index.ts", "g/index.cjs"])
      at.write(`config/tools/${name}`, "");
    at.write(".assent/tools/a.ts", "");
    assert.deepEqual(discover(at).modules, [
      ...["a/index.ts", "b.mts", "c.cts", "d.js", "e.mjs", "f.cjs", "g/index.cjs", "z.ts"].map((name) => `user config/tools/${name}`),
      "project .assent/tools/a.ts",
    ]);
  });

  test("what is no module, is hidden or a test is not looked at", (t) => {
    const at = place(t);
    for (const name of [
      "a.d.ts",
      "a.d.mts",
      "a.test.ts",
      ".a.ts",
      "_a.ts",
      "a.md",
      "a.json",
      "a.tsx",
      "_b/index.ts",
      ".b/index.ts",
      "deep/x/index.ts",
    ])
      at.write(`config/tools/${name}`, "");
    at.write("config/tools/both/index.js", "");
    at.write("config/tools/both/index.ts", "");
    assert.deepEqual(discover(at), { modules: ["user config/tools/both/index.ts"], failed: [], untrusted: [] });
  });

  test("one real file is one module, where it was found first", (t) => {
    const at = place(t);
    at.write("config/tools/b.ts", "");
    symlinkSync("b.ts", join(at.user, "a.ts"));
    assert.deepEqual(discover(at, { explicit: ["config/tools/b.ts"] }), { modules: ["user config/tools/a.ts"], failed: [], untrusted: [] });
  });

  test("a folder that is itself a link is the folder it leads to", (t) => {
    const at = place(t);
    at.write("elsewhere/a.ts", "");
    mkdirSync(join(at.root, "config"));
    symlinkSync("../elsewhere", at.user);
    assert.deepEqual(discover(at).modules, ["user config/tools/a.ts"]);
  });

  test("a link that leaves the folder is a failure", (t) => {
    const at = place(t);
    at.write("out/a.ts", "");
    at.write("out/index.ts", "");
    at.write("config/tools/inner/x", "");
    symlinkSync("../../out/a.ts", join(at.user, "a.ts"));
    symlinkSync("../../out", join(at.user, "b"));
    symlinkSync("../../../out/a.ts", join(at.user, "inner/index.ts"));
    symlinkSync("nowhere.ts", join(at.user, "c.ts"));
    symlinkSync("../../out/a.ts", join(at.user, "notes.md"));
    assert.deepEqual(discover(at), {
      modules: [],
      failed: [
        "config/tools/a.ts: load_error: The link points outside the folder, to out/a.ts",
        "config/tools/b/index.ts: load_error: The link points outside the folder, to out/index.ts",
        "config/tools/c.ts: load_error: The link is broken",
        "config/tools/inner/index.ts: load_error: The link points outside the folder, to out/a.ts",
      ],
      untrusted: [],
    });
  });

  test("a folder that is a file is a failure, and the others are read", (t) => {
    const at = place(t);
    at.write("config/tools", "");
    at.write(".assent/tools/a.ts", "");
    const { modules, failed } = discover(at);
    assert.deepEqual(modules, ["project .assent/tools/a.ts"]);
    assert.match(failed.join(), /^config\/tools: load_error: The folder cannot be read: ENOTDIR/);
  });

  test("explicit paths are taken from the working directory; what is no module is named", (t) => {
    const at = place(t);
    at.write("x/_a.ts", "");
    at.write("x/b.md", "");
    at.write("x/c.d.ts", "");
    mkdirSync(join(at.root, "x/dir.ts"));
    assert.deepEqual(discover(at, { explicit: ["x/_a.ts", "x/b.md", "x/c.d.ts", "x/dir.ts", "x/none.ts"] }), {
      modules: ["explicit x/_a.ts"],
      failed: [
        "x/b.md: load_error: Not a tool module: x/b.md",
        "x/c.d.ts: load_error: Not a tool module: x/c.d.ts",
        "x/dir.ts: load_error: Not a tool module: x/dir.ts",
        "x/none.ts: load_error: File not found: x/none.ts",
      ],
      untrusted: [],
    });
  });
});

describe("trust", () => {
  test("no module of an untrusted project is executed, and the failure says how many there are", async (t) => {
    const at = place(t);
    at.write(".assent/tools/a.ts", "throw new Error('executed')");
    at.write(".assent/tools/b.ts", "not even parsed (");
    at.write("config/tools/mine.ts", toolModule("mine"));
    const loaded = await at.load({ trusted: false });
    assert.deepEqual(summary(loaded), {
      tools: ["mine"],
      failed: ["untrusted: 2 custom tools in .assent/tools are not loaded: workspace not trusted."],
    });
    assert.deepEqual(loaded.untrusted, [join(at.project, "a.ts"), join(at.project, "b.ts")]);
  });

  test("one is one, and none is nothing to tell", (t) => {
    const at = place(t);
    assert.deepEqual(discover(at, { trusted: false }).failed, []);
    at.write(".assent/tools/a.ts", "");
    assert.deepEqual(discover(at, { trusted: false }).failed, [
      ".assent/tools: untrusted: 1 custom tool in .assent/tools is not loaded: workspace not trusted.",
    ]);
  });

  test("a tool of the project that is named explicitly is loaded", (t) => {
    const at = place(t);
    at.write(".assent/tools/a.ts", "");
    assert.deepEqual(discover(at, { trusted: false, explicit: [".assent/tools/a.ts"] }).modules, ["explicit .assent/tools/a.ts"]);
  });

  test("every file of the folder is in the digest that trust is bound to", (t) => {
    const at = place(t);
    at.write(".assent/tools/a.ts", "1");
    at.write(".assent/tools/deep/er/helper.json", "1");
    const before = readProjectConfiguration(at.root);
    assert.deepEqual(
      before.files.map(({ name }) => name),
      [".assent/tools/a.ts", ".assent/tools/deep/er/helper.json"],
    );
    at.write(".assent/tools/deep/er/helper.json", "2");
    assert.notEqual(readProjectConfiguration(at.root).digest, before.digest);
  });
});

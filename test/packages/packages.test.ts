import assert from "node:assert/strict";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { build } from "esbuild";
import { publint } from "publint";
import { startPostgres } from "../../packages/store-postgres/test/postgres-server.ts";
import { ENTRIES, freshTree, installed, PACKAGES, packed, ROOT, ran, scratch, type Tarball } from "./packed.ts";
import { readmeOf, testInstalled } from "./works-installed.ts";

type Manifest = {
  readonly version: string;
  readonly engines: object;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
};

let place: string;
let tree: string;
let user: string;
let tarballs: ReadonlyMap<string, Tarball>;

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(ROOT, "packages", folder, "package.json"), "utf8"));
const tarballOf = (name: string): Tarball => tarballs.get(name) ?? assert.fail(`${name} was not packed`);
const fileOf = (name: string, file: string): string => readFileSync(join(user, "node_modules", name, file), "utf8");

describe("packages from a fresh clone", () => {
  before(() => {
    place = scratch();
    tree = freshTree(place);
    mkdirSync(join(tree, "packages/store/dist"));
    writeFileSync(join(tree, "packages/store/dist/forgotten.js"), "export {};\n"); // of a module that is gone
    tarballs = packed(tree, { scripts: false });
    user = installed(place, tarballs, { locked: true });
  });
  after(() => rmSync(place, { recursive: true, force: true }));

  test("every package is packed", () => {
    assert.deepEqual([...tarballs.keys()].sort(), PACKAGES.map(([, name]) => name).sort());
  });

  for (const [folder, name] of PACKAGES) {
    test(`${name} carries its JavaScript, its types, what it reads at run time, and nothing else`, () => {
      const found = tarballOf(name).files.filter((file) => !/^dist\/bundle\/[\w-]+-[A-Z\d]{8}\.js$/.test(file));
      assert.deepEqual(found, expectedFiles(folder));
    });

    test(`${name} has the license, and no trace of where it was built`, () => {
      assert.equal(fileOf(name, "LICENSE"), readFileSync(join(ROOT, "LICENSE"), "utf8"));
      for (const file of tarballOf(name).files) {
        const text = fileOf(name, file);
        for (const trace of [place, ROOT, "/node_modules/@ai-sdk/"]) assert.ok(!text.includes(trace), `${file} has ${trace}`);
        assert.ok(!text.includes("sourceMappingURL"), `${file} names a map that is not there`);
      }
    });

    test(`${name} declares what it imports, one version of its siblings, and the Node it needs`, () => {
      const { version, engines, dependencies, optionalDependencies, peerDependencies } = manifestOf(folder);
      const declared = { ...dependencies, ...optionalDependencies, ...peerDependencies };
      const imported = tarballOf(name)
        .files.filter((file) => /^(?:dist|bin)\//.test(file))
        .flatMap((file) => packagesIn(fileOf(name, file)));
      assert.deepEqual(
        [...new Set(imported)].filter((wanted) => wanted !== name && !(wanted in declared)),
        [],
      );
      for (const [sibling, wanted] of Object.entries(declared)) if (sibling.startsWith("@assent/")) assert.equal(wanted, version, sibling);
      assert.deepEqual(engines, { node: ">=22.19" });
    });

    test(`${name} is what publint wants`, async () => {
      const bytes = readFileSync(tarballOf(name).file);
      const { messages } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true });
      assert.deepEqual(messages, []);
    });

    test(`the README of ${name} fits a screen, and says how to install it`, () => {
      const { text } = readmeOf(folder);
      assert.ok(text.split("\n").length <= 45, `${text.split("\n").length} lines`);
      assert.match(text, new RegExp(`^# ${name}\n`));
      assert.match(text, new RegExp(`^npm install (?:--global )?${name}\\b`, "m"));
    });
  }

  test("the joined files of @assent/gate have short lines, because Node prints the line of an uncaught error", () => {
    const joined = tarballOf("@assent/gate").files.filter((file) => file.startsWith("dist/bundle/"));
    const lengths = joined.flatMap((file) => fileOf("@assent/gate", file).split("\n")).map(({ length }) => length);
    assert.ok(Math.max(...lengths) < 2000, `${Math.max(...lengths)} characters`);
  });

  test("assent carries the licenses of other people's packages that are part of it", () => {
    const licenses = fileOf("assent", "dist/bundle/licenses.txt");
    const headings = [...licenses.matchAll(/^(\S+) \d+\.\d+\.\d+: (\S+)$/gm)].map(([, name, license]) => `${name} ${license}`);
    assert.deepEqual(headings, [
      "@ai-sdk/anthropic Apache-2.0",
      "@ai-sdk/google Apache-2.0",
      "@ai-sdk/openai Apache-2.0",
      "@ai-sdk/openai-compatible Apache-2.0",
      "@ai-sdk/provider Apache-2.0",
      "@ai-sdk/provider-utils Apache-2.0",
      "@workflow/serde Apache-2.0",
      "eventsource-parser MIT",
      "jsonc-parser MIT",
      "unbash ISC",
      "zod MIT",
    ]);
    assert.equal(licenses.match(/Permission is hereby granted, free of charge/g)?.length, 3);
  });

  for (const [folder, name] of PACKAGES.filter(([id]) => id === "core" || id === "sdk"))
    test(`${name} has no dependencies`, () => {
      const { dependencies, optionalDependencies, peerDependencies } = manifestOf(folder);
      assert.deepEqual(
        { dependencies, optionalDependencies, peerDependencies },
        {
          dependencies: undefined,
          optionalDependencies: undefined,
          peerDependencies: undefined,
        },
      );
    });

  test("types resolve, with every library checked, and the programs of the READMEs fit them", () => {
    assert.ok(existsSync(join(user, "node_modules/@types/node")), "the types of Node come with those of a dependency");
    const programs = PACKAGES.flatMap(([folder]) => {
      const { program } = readmeOf(folder);
      if (program === undefined) return [];
      writeFileSync(join(user, `typed-${folder}.ts`), program);
      return [`typed-${folder}.ts`];
    });
    writeFileSync(join(user, "entries.ts"), ENTRIES.map((name, at) => `export * as e${at} from "${name}";\n`).join(""));
    assert.equal(programs.length, PACKAGES.length - 1, "all but the program");
    assert.deepEqual(typeErrors(["entries.ts", ...programs]), []);
    writeFileSync(join(user, "wrong.ts"), 'import { MODES } from "@assent/core";\nexport const mode: number = MODES[0];\n');
    assert.match(typeErrors(["wrong.ts"]).join("\n"), /^wrong\.ts.*TS2322/);
  });

  for (const [program, most] of [
    ["ai-sdk", 10],
    ["openai", 15],
    ["anthropic", 15],
    ["own-loop", 15],
  ] as const)
    test(`an application puts a gate before its own tools in at most ${most} lines: ${program}`, () => {
      const programs = join(import.meta.dirname, "programs");
      const lines = readFileSync(join(programs, `${program}.ts`), "utf8").split("\n");
      assert.ok(lines.filter((line) => line.trim() !== "").length <= most);
      cpSync(programs, join(user, "programs"), { recursive: true });
      const ai = join(user, "node_modules/ai");
      if (!existsSync(ai)) symlinkSync(join(ROOT, "node_modules/ai"), ai); // as `npm install ai` would
      const printed = ran(user, [process.execPath, join("programs", `${program}.ts`)]);
      assert.equal(printed, "Done. ann@example.test,bob@elsewhere.test\n");
    });

  test("a gate of the tarball analyzes commands and keeps its approvals in a store", () => {
    writeFileSync(
      join(user, "gate.mjs"),
      `import { createGate } from "@assent/gate";
      const schema = { type: "object", properties: { command: { type: "string" } } };
      const open = (more) => createGate({ store: "./state", approve: "park", rules: { allow: ["Shell(ls *)"], deny: ["bash:command=rm*"] }, ...more });
      const add = (gate) => gate.functions({ bash: { description: "Runs.", input: schema, run: () => "ran" } }, { bash: { kind: "execute" } });
      const gate = await open();
      add(gate);
      const { calls } = await gate.run(["ls", "ls; rm x", "make"].map((command, at) => ({ id: "c" + at, name: "bash", arguments: { command } })));
      await gate.close();
      const later = await open({ session: gate.session });
      add(later);
      for (const { id } of await later.approvals()) await later.answer(id, "approve");
      const again = await later.resume();
      console.log([...calls, ...again.calls].map(({ outcome }) => outcome).join());
      await later.close();`,
    );
    assert.equal(ran(user, [process.execPath, "gate.mjs"]), "succeeded,denied,waiting,succeeded\n");
  });

  test("a gate of the tarball uses PostgreSQL only if its package is installed, and says what to install", {
    timeout: 120_000,
  }, async () => {
    const server = await startPostgres(18);
    writeFileSync(
      join(user, "gate-postgres.mjs"),
      `import { createGate } from "@assent/gate";
      try {
        const gate = await createGate({ store: ${JSON.stringify(server.url("packed"))}, approve: "park" });
        gate.tool({ name: "mail", description: "Sends.", kind: "other", input: { type: "object" }, run: () => "sent" });
        const { calls } = await gate.run([{ id: "1", name: "mail", arguments: {} }]);
        console.log(calls[0].outcome, (await gate.approvals()).length);
        await gate.close();
      } catch (error) {
        console.log(error.type, error.message);
      }`,
    );
    const [installed, away] = [join(user, "node_modules/@assent/store-postgres"), join(user, "away")];
    renameSync(installed, away);
    const without = ran(user, [process.execPath, "gate-postgres.mjs"]);
    renameSync(away, installed);
    assert.match(without, /^bad_option .* Install it: npm install @assent\/store-postgres\n$/);
    const env = { ...process.env, XDG_STATE_HOME: join(user, "postgres-state") };
    assert.equal(ran(user, [process.execPath, "gate-postgres.mjs"], env), "waiting 1\n");
  });

  const SHAKEN: readonly (readonly [name: string, entry: string, most: number])[] = [
    ["canonicalJson", "@assent/core", 8_000],
    ["strictest", "@assent/core/parts", 8_000],
    ["memoryLedger", "@assent/core", 35_000],
  ];
  for (const [name, entry, most] of SHAKEN)
    test(`a bundle of ${name} alone has at most ${most} characters, and runs anywhere`, async () => {
      const stdin = { contents: `export { ${name} } from "${entry}";`, resolveDir: user };
      const { outputFiles } = await build({ stdin, bundle: true, minify: true, format: "esm", platform: "neutral", write: false });
      const size = outputFiles[0]?.text.length ?? 0;
      assert.ok(size > 500 && size <= most, `${size} characters`);
    });

  test("a program that is made one file has in it what is loaded with its first session", async () => {
    const stdin = { contents: readmeOf("core").program ?? "", resolveDir: user, loader: "ts" as const };
    const outfile = join(place, "one-file.mjs"); // beside no node_modules
    await build({ stdin, outfile, bundle: true, minify: true, format: "esm", platform: "node" });
    assert.match(ran(place, [process.execPath, outfile]), /^Ann succeeded null\nBob denied denied_by_rule\n/);
  });

  testInstalled("on this Node", () => ({ tree, user, node: process.execPath }));
});

/** Packages whose modules are joined, and the entries that are left. */
const JOINED: Readonly<Record<string, readonly string[]>> = {
  agent: ["index"],
  cli: ["index", "jsonc-parser", "program", "unbash"],
  core: ["index", "parts", "setup", "testing", "text", "ungoverned"],
  gate: ["index", "shell"],
};

/** Files that the build makes and no source has the name of. */
const MADE: Readonly<Record<string, readonly string[]>> = {
  cli: ["dist/bundle/licenses.txt"],
  inbox: ["dist/web/app.css", "dist/web/app.js"],
};

/** The files that a package must contain, derived from its sources. */
function expectedFiles(folder: string): readonly string[] {
  const sources = ["bin", "src", "testing"].flatMap((part) => globSync(`${part}/**/*.*`, { cwd: join(tree, "packages", folder) }));
  const modules = sources.filter((file) => /^(?:src|testing)\//.test(file) && file.endsWith(".ts"));
  const hasTesting = modules.some((file) => file.startsWith("testing/")); // then both folders are kept in dist
  const built = modules.map((file) => (hasTesting ? `dist/${file}` : file.replace(/^src\//, "dist/")).replace(/\.ts$/, ""));
  const code = JOINED[folder]?.map((entry) => `dist/bundle/${entry}`) ?? built;
  assert.ok(modules.length > 5);
  const read = sources.filter((file) => file.startsWith("bin/") || (file.startsWith("src/") && !file.endsWith(".ts")));
  const always = ["LICENSE", "README.md", "package.json", ...(MADE[folder] ?? [])];
  return [...always, ...read, ...built.map((file) => `${file}.d.ts`), ...code.map((file) => `${file}.js`)].sort();
}

/** The packages that a module imports, read by pattern: what the compiler writes is regular. */
function packagesIn(text: string): readonly string[] {
  return [...text.matchAll(/^(?:(?:import|export)\b[^"\n]* from |import |\} from )"([^"\n]+)";$|\bimport\("([^"]+)"\)/gm)]
    .map(([, plain, dynamic]) => plain ?? dynamic ?? "")
    .filter((specifier) => !specifier.startsWith(".") && !isBuiltin(specifier))
    .map((specifier) =>
      specifier
        .split("/")
        .slice(0, specifier.startsWith("@") ? 2 : 1)
        .join("/"),
    );
}

/** What the compiler says in a user's strict project; about other people's libraries only they can do something. */
function typeErrors(files: readonly string[]): readonly string[] {
  const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--module", "nodenext", "--target", "es2024", "--types", "node"];
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  const printed = ran(user, ["bash", "-c", '"$@" || true', "tsc", process.execPath, compiler, ...options, ...files]);
  return printed.split("\n").filter((line) => /^\S.*error TS/.test(line) && !line.startsWith("node_modules/@ai-sdk/"));
}

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, test } from "node:test";

/** This file is the architecture: a new arrow, a new export, a new event type on disk is a change to a literal here. */
const ROOT = join(import.meta.dirname, "..");

/**
 * Who may import whom. The most specific row that holds a file is its row; a folder may always import itself.
 * `core/src` holds ports and declarations; `core entry` is the files that put the package together for others.
 */
const ROWS: readonly { name: string; files: string; except?: readonly string[]; mayImport: readonly string[]; node?: "none" | "any" }[] = [
  { name: "core/src/model", files: "packages/core/src/model/**/*.ts", mayImport: [], node: "none" },
  {
    name: "core/src",
    files: "packages/core/src/*.ts",
    except: ["packages/core/src/index.ts", "packages/core/src/parts.ts", "packages/core/src/setup.ts", "packages/core/src/ungoverned.ts"],
    mayImport: ["core/src/model"],
    node: "none",
  },
  { name: "core/src/runtime", files: "packages/core/src/runtime/**/*.ts", mayImport: ["core/src", "core/src/model"], node: "none" },
  {
    name: "core/testing",
    files: "packages/core/testing/**/*.ts",
    mayImport: ["core/src/runtime", "core/src", "core/src/model"],
    node: "any",
  },
  {
    name: "core entry",
    files: "packages/core/src/{index,parts,setup,ungoverned}.ts",
    mayImport: ["core/src/runtime", "core/src", "core/src/model"],
    node: "none",
  },
  { name: "host", files: "packages/host/src/**/*.ts", mayImport: ["@assent/core", "@assent/core/parts"], node: "any" },
  { name: "policy", files: "packages/policy/src/**/*.ts", mayImport: ["@assent/core", "@assent/core/parts"], node: "any" },
  { name: "store", files: "packages/store/src/**/*.ts", mayImport: ["@assent/core"], node: "any" },
  {
    name: "store-postgres",
    files: "packages/store-postgres/src/**/*.ts",
    mayImport: ["@assent/core", "@assent/core/text", "@assent/store", "@assent/store/parts"],
    node: "any",
  },
  { name: "agent", files: "packages/agent/src/**/*.ts", mayImport: ["@assent/core", "@assent/core/parts"], node: "any" },
  {
    name: "gate",
    files: "packages/gate/src/**/*.ts",
    mayImport: ["@assent/core", "@assent/core/parts", "@assent/policy", "@assent/host", "@assent/store", "@assent/store-postgres"],
    node: "any",
  },
  { name: "guard", files: "packages/guard/src/**/*.ts", mayImport: ["@assent/core", "@assent/core/parts"], node: "any" },
  { name: "inbox", files: "packages/inbox/src/**/*.ts", mayImport: ["@assent/core"], node: "any" },
  { name: "mcp", files: "packages/mcp/src/**/*.ts", mayImport: ["@assent/core", "@assent/policy"], node: "any" },
  { name: "sdk", files: "packages/sdk/src/**/*.ts", mayImport: [], node: "any" },
  {
    name: "tools",
    files: "packages/tools/src/**/*.ts",
    mayImport: ["@assent/core", "@assent/core/parts", "@assent/core/setup", "@assent/policy", "@assent/host"],
    node: "any",
  },
  {
    name: "cli",
    files: "packages/cli/src/**/*.ts",
    mayImport: [
      "@assent/core",
      "@assent/core/parts",
      "@assent/core/text",
      "@assent/policy",
      "@assent/host",
      "@assent/store",
      "@assent/store-postgres",
      "@assent/tools",
      "@assent/agent",
      "@assent/guard",
      "@assent/inbox",
      "@assent/mcp",
      "@assent/mcp/gateway",
    ],
    node: "any",
  },
];

describe("who may import whom", () => {
  const owner = new Map<string, string>();
  for (const { name, files, except } of ROWS) for (const file of sources(files)) if (!except?.includes(file)) owner.set(file, name);

  for (const row of ROWS) {
    test(`${row.name} imports ${row.mayImport.join(", ") || "nothing but itself"}`, () => {
      const mine = [...owner].filter(([, name]) => name === row.name).map(([file]) => file);
      assert.ok(mine.length > 0, `${row.files} matched no file: the row guards nothing`);
      const strange = mine.flatMap((file) =>
        specifiers(read(file))
          .filter((to) => !isAllowed(row, file, to))
          .map((to) => `${file} → ${to}`),
      );
      assert.deepEqual(strange, [], `Not in the table for ${row.name}. Move the code, or pass what it needs through a port.`);
    });
  }

  test("every source file belongs to a row", () => {
    const all = sources("packages/*/src/**/*.ts");
    assert.ok(all.length > 0);
    assert.deepEqual(
      all.filter((file) => !owner.has(file)),
      [],
    );
  });

  test("every package that exists has a row", () => {
    const packages = globSync("packages/*/package.json", { cwd: ROOT }).map((file) => file.split("/")[1]);
    const rows = new Set(ROWS.map(({ files }) => files.split("/")[1]));
    assert.deepEqual(
      packages.filter((name) => !rows.has(name)),
      [],
    );
  });

  function isAllowed(row: (typeof ROWS)[number], file: string, to: string): boolean {
    if (to.startsWith("node:")) return row.node === "any";
    if (to.startsWith(".")) {
      const its = owner.get(normalize(join(dirname(file), to)));
      return its === row.name || (its !== undefined && row.mayImport.includes(its));
    }
    return to.startsWith("@assent/") || to === "assent" ? row.mayImport.includes(to) : isDeclared(file, to);
  }
});

test("threads of custom tools load no more of core than its setup entry, because every module has a thread", () => {
  const files = new Set(["packages/tools/src/custom/module-worker.ts"]);
  const packages = new Set<string>();
  for (const file of files)
    for (const to of specifiers(read(file).replace(/^import type [^;]+;/gm, "")))
      if (to.startsWith(".")) files.add(normalize(join(dirname(file), to)));
      else if (to.startsWith("@assent/")) packages.add(to);
  assert.deepEqual([...packages], ["@assent/core/setup"]);
});

describe("the reader of imports", () => {
  const forms: readonly [sentence: string, text: string, expected: readonly string[]][] = [
    ["a named import", 'import { a } from "x";', ["x"]],
    ["a type import", 'import type { A } from "./a.ts";', ["./a.ts"]],
    ["an import over several lines", 'import {\n  a,\n  b,\n} from "x";', ["x"]],
    ["an import for its effect", 'import "x";', ["x"]],
    ["a re-export", 'export { a } from "x";', ["x"]],
    ["an import inside a function", 'const a = await import("x");', ["x"]],
    ["the type of a module", 'type A = typeof import("x");', ["x"]],
    ["two statements, no text between them", 'import { a } from "x";\nexport const b = 1;\nexport { c } from "y";', ["x", "y"]],
    ["a word in a sentence is no import", 'const a = "taken from the store";', []],
  ];
  for (const [sentence, text, expected] of forms) test(sentence, () => assert.deepEqual(specifiers(text), expected));
});

describe("the model is pure", () => {
  const impure: readonly [name: string, pattern: RegExp][] = [
    ["async", /\basync\b/],
    ["await", /\bawait\b/],
    ["Promise", /\bPromise\b/],
    ["Date", /\bDate\b/],
    ["Math.random", /\bMath\.random\b/],
    ["process", /(?<![.\w])process(?:\?\.|\.\w|\[)|= process\b/],
    ["a timer", /\bset(?:Timeout|Interval|Immediate)\b/],
    ["performance", /\bperformance\b/],
    ["globalThis", /\bglobalThis\b/],
    ["node:", /["']node:/],
  ];
  const plants: Readonly<Record<string, string>> = {
    async: "async function f() {}",
    await: "await f();",
    Promise: "type A = Promise<string>;",
    Date: "const a = new Date();",
    "Math.random": "const a = Math.random();",
    process: "const a = process.pid;",
    "a timer": "setTimeout(f, 1);",
    performance: "const a = performance.now();",
    globalThis: "const a = globalThis;",
    "node:": 'import { a } from "node:fs";',
  };
  for (const [name, pattern] of impure) {
    test(`no ${name} in core/src/model`, () => {
      const files = sources("packages/core/src/model/**/*.ts");
      assert.ok(files.length > 0);
      assert.match(plants[name] ?? "", pattern, "the pattern must find a planted fault");
      assert.deepEqual(
        files.filter((file) => pattern.test(withoutComments(read(file)))),
        [],
      );
    });
  }
});

test("core is read without a look at the tables of Unicode: their classes stand in patterns that are made when they are wanted", () => {
  const isLiteral = (line: string): boolean => /\\[pP]\{/.test(line) && !line.includes("unicodePattern(String.raw`");
  assert.ok(isLiteral(String.raw`const LETTER = /\p{L}/u;`), "the pattern must find a planted fault");
  const found = sources("packages/core/src/{*,model/**/*,runtime/**/*}.ts").filter((file) => read(file).split("\n").some(isLiteral));
  assert.deepEqual(found, []);
});

describe("one place for each dangerous thing", () => {
  const places: readonly [sentence: string, pattern: RegExp, plant: string, allowed: readonly string[]][] = [
    [
      "only the effect and the ungoverned entry execute a tool",
      /\.(?:execute|perform)\(/,
      "invocation.execute(signal)",
      ["packages/core/src/runtime/pipeline/effect.ts", "packages/core/src/ungoverned.ts"],
    ],
    [
      "only run-call and recovery reach the effect",
      /\brunBody\b/,
      'import { runBody } from "./effect.ts"',
      [
        "packages/core/src/runtime/pipeline/effect.ts",
        "packages/core/src/runtime/recover.ts",
        "packages/core/src/runtime/pipeline/run-call.ts",
      ],
    ],
    // A host's program starts Assent, and nothing else.
    [
      "only host and the child of the sdk start processes",
      /["']node:child_process["']/,
      'from "node:child_process"',
      ["packages/host/", "packages/sdk/src/child.ts", "packages/guard/src/install/opencode-plugin.ts"], // the last is the text of a plugin
    ],
    ["only host renames files", /\brename(?:Sync)?\(/, "await rename(a, b)", ["packages/host/"]],
    ["only store opens a database", /["']node:sqlite["']/, 'from "node:sqlite"', ["packages/store/"]],
    ["only store-postgres connects to PostgreSQL", /["']pg["']/, 'from "pg"', ["packages/store-postgres/"]],
    ["nothing imports the ungoverned entry", /["']@assent\/core\/ungoverned["']/, 'from "@assent/core/ungoverned"', []],
    ["nothing imports the fakes", /["']@assent\/core\/testing["']/, 'from "@assent/core/testing"', []],
    // What a user names is loaded there and nowhere else.
    [
      "only the loader of custom tools imports what is named at run time",
      /\bimport\((?!")/,
      "await import(name)",
      ["packages/tools/src/custom/worker-load.ts", "packages/inbox/src/page.ts"], // the second: the page is built only in a checkout
    ],
    // Its port answers at once, and it is loaded when the first raw JSON Schema is there: neither import fits.
    [
      "only the schema compiler requires",
      /\b(?:createRequire|require)\(/,
      "createRequire(import.meta.url)",
      ["packages/host/src/schema/ajv-schemas.ts"],
    ],
    ["no escape from the type checker", /@ts-(?:ignore|expect-error|nocheck)/, `// @${"ts-ignore"}`, []],
  ];
  for (const [sentence, pattern, plant, allowed] of places) {
    test(sentence, () => {
      assert.match(plant, pattern, "the pattern must find a planted fault");
      const found = sources("packages/*/src/**/*.ts").filter((file) => pattern.test(read(file)));
      assert.deepEqual(
        found.filter((file) => !allowed.some((place) => file.startsWith(place))),
        [],
      );
      for (const place of allowed)
        assert.ok(
          found.some((file) => file.startsWith(place)),
          `${place} no longer does this: remove it from the list`,
        );
    });
  }

  const asks: readonly [sentence: string, pattern: RegExp, plants: readonly string[], instead: string][] = [
    [
      "whether an effect may be under way",
      /\bstate(?:: | [=!]== )"claimed"/,
      ['call?.state === "claimed"', 'call.state !== "claimed"', 'Extract<Call, { readonly state: "claimed" }>'],
      "`mayBeUnderWay(call)`, or the type `UnderWay`",
    ],
    ["whether it was judged", /\bstate [=!]== "proposed"/, ['call.state !== "proposed"'], "`hasJudgement(call)`"],
    [
      "whether it asked",
      /\bstate (?:=== "(?:waiting|approved)" \|\| \S*state ===|!== "(?:waiting|approved)" && \S*state !==) "(?:waiting|approved)"/,
      ['call?.state === "waiting" || call?.state === "approved"', 'call?.state !== "waiting" && call?.state !== "approved"'],
      "`isAsked(call)`",
    ],
  ];
  for (const [sentence, pattern, plants, instead] of asks) {
    test(`only the model of a call knows by its state ${sentence}`, () => {
      for (const plant of plants) assert.match(plant, pattern, "the pattern must find a planted fault");
      const elsewhere = sources("packages/*/src/**/*.ts").filter((file) => file !== "packages/core/src/model/call.ts");
      assert.ok(elsewhere.length > 0);
      assert.deepEqual(
        elsewhere.filter((file) => pattern.test(read(file))),
        [],
        `A state that is added later would be missed here. Use ${instead} of core/src/model/call.ts: each state has a word there.`,
      );
    });
  }

  test("the independent checker of ledgers imports nothing of ours", () => {
    const own = specifiers(read("test/crash/check.ts"));
    assert.ok(own.length > 0);
    assert.deepEqual(
      own.filter((to) => !to.startsWith("node:")),
      [],
    );
  });
});

describe("the record's format is pinned", () => {
  test("these event types stand on disk", async () => {
    const { EVENT_TYPES } = await import("../packages/core/src/model/known-event.ts");
    assert.deepEqual([...EVENT_TYPES].sort(), [
      "approval.answered",
      "approval.closed",
      "approval.opened",
      "call.answered",
      "call.claimed",
      "call.ended",
      "call.judged",
      "call.proposed",
      "call.started",
      "cancel.requested",
      "grant.created",
      "grant.revoked",
      "grant.used",
      "history.compacted",
      "hook.ran",
      "message.assistant",
      "message.user",
      "mode.changed",
      "model.changed",
      "notice.delivered",
      "notice.dropped",
      "notice.queued",
      "notification.sent",
      "policy.changed",
      "preview.ended",
      "preview.started",
      "proposal.applied",
      "proposal.apply_failed",
      "proposal.applying",
      "proposal.discarded",
      "proposal.parked",
      "proposal.refused",
      "proposal.reminded",
      "proposal.requested",
      "proposal.staged",
      "proposal.stale",
      "proposal.superseded",
      "proposal.undoing",
      "proposal.undone",
      "proposal.unheeded",
      "proposal.unknown",
      "question.answered",
      "question.asked",
      "schedule.created",
      "schedule.fired",
      "schedule.removed",
      "session.closed",
      "session.created",
      "session.opened",
      "session.registered",
      "store.checkpoint",
      "store.created",
      "store.epoch",
      "store.migrated",
      "store.pruned",
      "store.repaired",
      "store.restored",
      "store.snapshot",
      "task.cancelling",
      "task.ended",
      "task.message",
      "task.paused",
      "task.process",
      "task.resumed",
      "task.started",
      "trust.granted",
      "trust.revoked",
      "turn.ended",
      "turn.started",
    ]);
  });
});

describe("gates are in force", () => {
  test("Biome reports sizes and fails on unhandled promises, open switches and untyped code", () => {
    const { rules } = JSON.parse(read("biome.json")).linter;
    assert.deepEqual(rules.style.noExcessiveLinesPerFile, { level: "info", options: { maxLines: 400 } });
    assert.deepEqual(rules.complexity.noExcessiveLinesPerFunction, { level: "info", options: { maxLines: 60 } });
    assert.deepEqual(rules.complexity.useMaxParams, { level: "info", options: { max: 4 } });
    const errors: readonly [group: string, rule: string][] = [
      ["nursery", "noFloatingPromises"],
      ["nursery", "noMisusedPromises"],
      ["nursery", "useExhaustiveSwitchCases"],
      ["correctness", "noUndeclaredDependencies"],
      ["style", "noDefaultExport"],
      ["style", "noEnum"],
      ["style", "noNonNullAssertion"],
      ["performance", "noReExportAll"],
      ["suspicious", "noExplicitAny"],
      ["suspicious", "noFocusedTests"],
      ["suspicious", "noSkippedTests"],
    ];
    for (const [group, rule] of errors) assert.equal(rules[group][rule], "error", `${group}/${rule}`);
  });

  test("a suppression of Biome is counted, and needs a reason", () => {
    const mark = ["biome", "ignore"].join("-");
    const files = sources("{packages,test,bench,examples,scripts}/**/*.{ts,mjs,js}");
    assert.ok(files.length > 0);
    const lines = files.flatMap((file) =>
      read(file)
        .split("\n")
        .filter((line) => line.includes(mark)),
    );
    assert.deepEqual(
      lines.filter((line) => !/: \S+ \S+/.test(line)),
      [],
      "say why after the colon",
    );
    assert.equal(lines.length, 3);
  });

  test("continuous integration runs the command for readers, then the static part of the check", () => {
    const { scripts } = JSON.parse(read("package.json"));
    assert.equal(scripts.check, "npm run check:static && npm test");
    const layout = "node --conditions=@assent/source --test --test-reporter=dot test/layout.test.ts";
    assert.equal(
      scripts["check:static"],
      `tsc -b && biome check --error-on-warnings . && knip && node scripts/api-reference.mjs --check && ${layout}`,
    );
    assert.match(read(".ci/run"), /^npm cit$[\s\S]*^npm run check:static &\nstatic=\$!$[\s\S]*^wait "\$static"$/m);
  });
});

describe("packages", () => {
  test("one version, and exact versions of everything else", () => {
    const { version } = JSON.parse(read("package.json"));
    assert.ok(manifests().length > 0);
    for (const { file, manifest } of [...manifests(), { file: "package.json", manifest: JSON.parse(read("package.json")) as Manifest }]) {
      assert.equal(manifest.version, version, `version of ${file}`);
      const wanted = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
      for (const [name, range] of Object.entries(wanted)) {
        assert.match(range, /^(?:npm:[@\w/-]+@)?\d+\.\d+\.\d+(?:-beta\.\d+)?$/, `${file}: ${name} ${range} is not an exact version`);
        if (name.startsWith("@assent/")) assert.equal(range, version, `${file}: ${name}`);
      }
    }
  });

  test("core has no dependencies", () => {
    const core = manifests().find(({ manifest }) => manifest.name === "@assent/core")?.manifest;
    assert.ok(core);
    assert.deepEqual({ ...core.dependencies, ...core.peerDependencies, ...core.optionalDependencies }, {});
  });

  test("every command is a checked-in JavaScript file that an old Node can read", () => {
    const commands = manifests().flatMap(({ file, manifest }) => Object.values(manifest.bin ?? {}).map((bin) => join(dirname(file), bin)));
    assert.deepEqual(commands, ["packages/cli/bin/assent.js"]);
    for (const command of commands) {
      assert.ok(existsSync(join(ROOT, command)), `${command} is missing`);
      assert.match(read(command), /^#!\/usr\/bin\/env node\n/);
      assert.deepEqual(
        specifiers(read(command)).filter((to) => to.startsWith("@assent/")),
        [],
      );
      execFileSync(process.execPath, ["--check", join(ROOT, command)]);
    }
  });
});

describe("the Node that runs us", () => {
  const rows: readonly [version: string, status: number][] = [
    ["12.22.12", 1],
    ["20.20.2", 1],
    ["22.18.0", 1],
    ["22.19.0", 0],
    ["23.0.0", 0],
    ["24.21.0", 0],
  ];
  for (const [version, status] of rows) {
    test(`${version} is ${status === 0 ? "good" : "refused with what to do"}`, () => {
      const pretend = `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"${version}"}})`;
      const ran = spawnSync(process.execPath, ["--import", pretend, join(ROOT, "scripts/check-node.mjs")], { encoding: "utf8" });
      assert.equal(ran.status, status);
      assert.equal(ran.stderr.includes(`this is v${version}.`) && ran.stderr.includes("npm ci"), status === 1);
    });
  }
});

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

function manifests(): readonly { readonly file: string; readonly manifest: Manifest }[] {
  return globSync("packages/*/package.json", { cwd: ROOT }).map((file) => ({ file, manifest: JSON.parse(read(file)) as Manifest }));
}

/** Hoisting lets any installed package be imported; only a declared one will be there for users. */
function isDeclared(file: string, to: string): boolean {
  const manifest = JSON.parse(read(`packages/${file.split("/")[1]}/package.json`)) as Manifest;
  const name = to
    .split("/")
    .slice(0, to.startsWith("@") ? 2 : 1)
    .join("/");
  return name in { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies };
}

function sources(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: ROOT, exclude: (name) => /(?:^|\/)(?:node_modules|dist|peers)$/.test(String(name)) }).sort();
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

/** By pattern, which is sound because Biome normalises imports and computed ones are banned above. */
function specifiers(text: string): readonly string[] {
  const pattern = /^(?:import|export)\b[^;"]*?\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)/gm;
  return [...text.matchAll(pattern)].map(([, from, effect, inside]) => from ?? effect ?? inside ?? "");
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}

describe("names of types", () => {
  for (const name of globSync("packages/*", { cwd: ROOT }))
    test(`${name} defines each type once`, () => {
      const files = new Map<string, string[]>();
      for (const file of globSync(`${name}/{src,testing}/**/*.ts`, { cwd: ROOT }))
        for (const [, type = ""] of readFileSync(join(ROOT, file), "utf8").matchAll(/^(?:export )?(?:type|interface|class) (\w+)/gm))
          files.set(type, [...(files.get(type) ?? []), file]);
      assert.deepEqual(
        [...files].filter(([, places]) => places.length > 1),
        [],
      );
    });
});

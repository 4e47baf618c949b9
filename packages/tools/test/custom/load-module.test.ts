import assert from "node:assert/strict";
import "node:process"; // its names are bound from here on, before anything guards them
import { basename } from "node:path";
import { after, before, describe, test } from "node:test";
import { runNode } from "../run-node.ts";
import { place, summary, toolModule } from "./bench.ts";

const TOOL = '({ name: "a", description: "A.", parameters: { type: "object" }, execute: async () => ({ content: [] }) })';
const COMPILING = ". Types are only removed: enums, namespaces, parameter properties and JSX need compiling";

const REFUSED: readonly (readonly [sentence: string, file: string, text: string, failure: string])[] = [
  ["a syntax error in TypeScript, with its line", "a.ts", "\nconst x = ;", `load_error: Expression expected (line 2)${COMPILING}`],
  ["a syntax error in JavaScript", "a.mjs", "const x = ;", "load_error: Unexpected token ';'"],
  ["a syntax error in CommonJS, with its line", "a.cjs", "\n\nconst x = ;", "load_error: Unexpected token ';' (line 3)"],
  [
    "a missing name",
    "a.ts",
    '\nimport { x } from "node:fs";\nexport default x;',
    "load_error: The requested module 'node:fs' does not provide an export named 'x' (line 2)",
  ],
  ["a throw at the top, with its line", "a.ts", "\n\nthrow new Error('boom');", "load_error: boom (line 3)"],
  ["a thrown text", "a.ts", "throw 'boom';", "load_error: boom"],
  [
    "an enum needs a compiler, and is told so",
    "a.ts",
    "enum A { B }\nexport default () => [];",
    `load_error: TypeScript enum is not supported in strip-only mode (line 1)${COMPILING}`,
  ],
  [
    "so does a namespace",
    "a.ts",
    "namespace A { export const b = 1; }",
    `load_error: TypeScript namespace declaration is not supported in strip-only mode (line 1)${COMPILING}`,
  ],
  ["so does JSX", "a.ts", "export default () => {\n  return <a>b</a>;\n};", `load_error: Unterminated regexp literal (line 2)${COMPILING}`],
  ["no default export", "a.ts", "export const x = 1;", "bad_export: Default export is not a factory function"],
  ["a tool instead of a factory", "a.ts", `export default ${TOOL};`, "bad_export: Default export is not a factory function"],
  ["a factory that throws", "a.ts", "export default () => { throw new Error('no key'); };", "factory_error: Factory failed: no key"],
  [
    "a factory that rejects",
    "a.ts",
    "export default async () => { throw new TypeError('no key'); };",
    "factory_error: Factory failed: no key",
  ],
  ["a value that is no error, in its string form", "a.ts", "export default () => { throw 42; };", "factory_error: Factory failed: 42"],
  [
    "a value without a string form",
    "a.ts",
    "export default () => { throw Object.create(null); };",
    "factory_error: Factory failed: unknown error",
  ],
  [
    "a list that cannot be read",
    "a.ts",
    "export default () => Object.assign([], { [Symbol.iterator]() { throw new Error('no list'); } });",
    "factory_error: Factory failed: no list",
  ],
  ["null", "a.ts", "export default () => null;", "factory_error: Factory returned no tool"],
  ["nothing", "a.ts", "export default async () => {};", "factory_error: Factory returned no tool"],
  ["a text", "a.ts", "export default () => 'tool';", "factory_error: Factory returned no tool"],
  ["the process is not ended while importing", "a.ts", "process.exit(3);", "load_error: Module tried to exit the process"],
  [
    "nor by the factory, though it catches",
    "a.ts",
    `export default () => { try { process.exit(3); } catch {} return ${TOOL}; };`,
    "load_error: Module tried to exit the process",
  ],
  [
    "nor by the name of the function",
    "a.ts",
    `import { exit } from "node:process"; exit(3); export default () => ${TOOL};`,
    "load_error: Module tried to exit the process",
  ],
  [
    "exec while loading",
    "a.ts",
    'export default (api) => api.exec("ls", []);',
    "factory_error: Factory failed: exec is not available while loading",
  ],
];

describe("a module that cannot be loaded", () => {
  const at = place({ after });
  const reasons = new Map<string, string>();
  before(async () => {
    for (const [index, [, file, text]] of REFUSED.entries()) at.write(`config/tools/${index}-${file}`, text);
    at.write("config/tools/z.ts", toolModule("other"));
    const loaded = await at.load();
    assert.deepEqual(
      loaded.tools.map(({ tool }) => tool.name),
      ["other"],
    );
    for (const { file, type, reason } of loaded.failed) reasons.set(basename(file), `${type}: ${reason}`);
  });
  for (const [index, [sentence, file, , failure]] of REFUSED.entries())
    test(`${sentence}: it is left out`, () => assert.equal(reasons.get(`${index}-${file}`), failure));

  test("a missing import is named", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", 'import "./nowhere.ts";');
    assert.match(summary(await at.load()).failed.join(), /^load_error: Cannot find module '.*nowhere\.ts'/);
  });

  test("an error in an imported file names that file", async (t) => {
    const at = place(t);
    at.write("config/tools/a/index.ts", 'import "./part.ts";');
    at.write("config/tools/a/part.ts", "\nthrow new Error('boom');");
    assert.deepEqual(summary(await at.load()).failed, ["load_error: boom (part.ts line 2)"]);
  });

  test("a factory that never settles is given up after its time", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", 'export default ({ logger }) => { logger.info("begun"); return new Promise(() => {}); };');
    at.write("config/tools/b.ts", toolModule("b"));
    const loading = at.load();
    await at.logged("begun");
    await at.clock.advance(10_000);
    assert.deepEqual(summary(await loading), { tools: ["b"], failed: ["factory_timeout: Factory did not finish in 10 s"] });
    assert.equal(at.clock.pending(), 0);
  });

  test("with nothing else to do, the process stays until the time is over", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", "export default () => new Promise(() => {});");
    at.write("config/tools/b.ts", "await new Promise(() => {});");
    assert.deepEqual(JSON.parse(await runNode(program(at.root, 3_000))), {
      tools: [],
      failed: ["factory_timeout: Factory did not finish in 3 s", "factory_timeout: Module did not finish loading in 3 s"],
    });
  });

  test("a promise that it forgets does not end the process", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", `Promise.reject(new Error("forgotten")); export default () => ${TOOL};`);
    at.write("config/tools/b.ts", 'export default () => { Promise.reject(new Error("later")); return []; };');
    at.write("config/tools/c.ts", toolModule("c"));
    assert.deepEqual(JSON.parse(await runNode(program(at.root, 10_000))), {
      tools: ["c"],
      failed: ["load_error: Unhandled rejection: forgotten", "load_error: Unhandled rejection: later"],
    });
  });
});

/** Loads the user's tools of a place in a process of its own, and prints what came of it. */
function program(root: string, loadTimeoutMs: number): string {
  return `
    import { createHostPorts } from "@assent/host";
    import { ajvSchemas } from "@assent/host";
    import { loadCustomTools } from "@assent/tools";
    const { clock, processes } = createHostPorts({ stateDirectory: "/nonexistent" });
    const log = ({ level, message }) => console.error(level, message);
    const { tools, failed } = await loadCustomTools({
      folders: [{ path: ${JSON.stringify(`${root}/config/tools`)}, level: "user" }], trusted: false, registryNames: [], schemas: ajvSchemas(), clock,
      loadTimeoutMs: ${loadTimeoutMs}, ports: { cwd: "/", processes, environment: {}, log, staging: false },
    });
    console.log(JSON.stringify({ tools: tools.map(({ tool }) => tool.name), failed: failed.map(({ type, reason }) => type + ": " + reason) }));`;
}

describe("a module that loads", () => {
  const LOADED: readonly (readonly [sentence: string, file: string, text: string, tools: readonly string[]])[] = [
    ["TypeScript, by removing the types", "a.ts", `export default (api: { cwd: string }) => ${TOOL} as const;`, ["a"]],
    ["CommonJS", "a.cjs", `module.exports = () => ${TOOL};`, ["a"]],
    ["CommonJS in TypeScript", "a.cts", `module.exports = (api: unknown) => ${TOOL};`, ["a"]],
    ["CommonJS that a compiler made", "a.cjs", `exports.__esModule = true; exports.default = () => ${TOOL};`, ["a"]],
    ["a promise of a list", "a.ts", `export default async () => [${TOOL}];`, ["a"]],
    ["an empty list", "a.ts", "export default () => [];", []],
    ["awaiting at the top", "a.ts", `await new Promise((resolve) => setImmediate(resolve)); export default () => ${TOOL};`, ["a"]],
  ];
  for (const [sentence, file, text, tools] of LOADED) {
    test(sentence, async (t) => {
      const at = place(t);
      at.write(`config/tools/${file}`, text);
      assert.deepEqual(summary(await at.load()), { tools, failed: [] });
    });
  }

  test("what it writes to standard output while loading goes to the log, and nothing else does", async (t) => {
    const at = place(t);
    const path = at.write(
      "config/tools/a.ts",
      `console.log("top"); await null; process.stdout.write(Buffer.from("bytes"));
       export default async (api) => { await new Promise((resolve) => process.stdout.write("factory\\n", resolve)); api.logger.warn("said %s", 1, { a: 2 }); return []; };`,
    );
    const stdout = await runNode(program(at.root, 10_000), "exec 2>/dev/null");
    assert.deepEqual(JSON.parse(stdout), { tools: [], failed: [] });
    await at.load();
    const module = path;
    assert.deepEqual(at.lines, [
      { level: "info", module, message: "top" },
      { level: "info", module, message: "bytes" },
      { level: "info", module, message: "factory" },
      { level: "warn", module, message: "said 1 { a: 2 }" },
    ]);
  });

  test("it does not change the exit code of the process", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", "process.exitCode = 3; export default () => [];");
    const { exitCode } = process;
    await at.load();
    assert.equal(process.exitCode, exitCode);
  });

  test("threads of tools that are no longer used end, and none keeps the program alive", async (t) => {
    const at = place(t);
    at.write("config/tools/a.ts", toolModule("a"));
    const source = `
      import { setFlagsFromString } from "node:v8";
      import { runInNewContext } from "node:vm";
      setFlagsFromString("--expose-gc");
      const collect = runInNewContext("gc");
      let threads = 0;
      process.on("worker", (worker) => { threads += 1; worker.on("exit", () => { threads -= 1; }); });
      ${program(at.root, 10_000)
        .replace("const { tools, failed } = await", "const load = () =>")
        .replace(/console\.log\(.*$/m, "")}
      let kept;
      for (let time = 0; time < 3; time += 1) kept = await load();
      while (threads > 1) {
        collect();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      console.log(threads, kept.tools.length);`;
    assert.equal(await runNode(source), "1 1\n");
  });

  test("a thread is started where there is a module to load, and not before; zod is imported only there", async (t) => {
    const at = place(t);
    const listening = `
      const { registerHooks } = await import("node:module");
      let zod = 0, threads = 0;
      registerHooks({ load: (url, context, next) => { if (url.includes("/zod/")) zod += 1; return next(url, context); } });
      process.on("worker", () => { threads += 1; });`;
    const watched = `${listening}\nconst run = async () => { ${program(at.root, 1_000).replace(/import ({.*}) from (".*");/g, "const $1 = await import($2);")} };`;
    const source = `${watched}\nawait run();\nconsole.log(zod, threads);`;
    assert.match(await runNode(source), /\n0 0\n$/);
    at.write("config/tools/a.ts", toolModule("a"));
    assert.match(await runNode(source), /\n0 1\n$/);
  });
});

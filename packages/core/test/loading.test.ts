import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";

/** The modules of this package that a program has loaded by its end, and what it printed. */
function loadedBy(program: string): { readonly modules: readonly string[]; readonly printed: string } {
  const watch = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    process.on("exit", () => console.error(JSON.stringify(loaded)));`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--conditions=@assent/source", `--import=data:text/javascript,${encodeURIComponent(watch)}`, "--input-type=module", "--eval", program],
    { cwd: import.meta.dirname, encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
  const urls: readonly string[] = JSON.parse(stderr.trim().split("\n").at(-1) ?? "");
  const modules = urls.flatMap((url) => /\/packages\/core\/src\/(.+)$/.exec(url)?.[1] ?? []);
  assert.ok(modules.length > 10, stderr);
  return { modules, printed: stdout };
}

describe("what an import waits for", () => {
  const LATER = [
    "runtime/ledger-work.ts",
    "runtime/dispatcher.ts",
    "runtime/pipeline/effect.ts",
    "runtime/session/session.ts",
    "runtime/approval/answer.ts",
  ];
  const PARTS = [
    "model/decide.ts",
    "model/hooks/output.ts",
    "model/steering/loop-detector.ts",
    "model/steering/tool-choice-queue.ts",
    "runtime/policy/plan-mode.ts",
  ];

  test("an import of the package alone loads neither what runs calls nor the parts of loops and doors", () => {
    const { modules } = loadedBy(`
      import { createRegistry, defineTool, memoryLedger } from "@assent/core";
      createRegistry(); memoryLedger(); void defineTool;`);
    assert.deepEqual(
      [...LATER, ...PARTS].filter((module) => modules.includes(module)),
      [],
    );
    assert.ok(modules.includes("tool.ts") && modules.includes("runtime/memory-ledger/ledger.ts"));
  });

  test("a session brings what runs calls", () => {
    const { modules } = loadedBy(`
      import { memoryLedger, openSession } from "@assent/core";
      const clock = { now: () => 0, timer: () => () => undefined };
      const ids = { next: (prefix) => prefix + "1" };
      await openSession({ ledger: memoryLedger(), clock, ids }, { holder: { pid: 1, host: "h", processStart: "", door: "d" }, create: { cwd: "/" } });`);
    assert.deepEqual(
      LATER.filter((module) => !modules.includes(module)),
      [],
    );
  });

  test("without a session there is no dispatcher, and it is said what to do", () => {
    const { printed } = loadedBy(`
      import { createDispatcher } from "@assent/core";
      try { createDispatcher({}); } catch (error) { console.log(error.message); }`);
    assert.equal(printed, "A dispatcher needs a session: open one with openSession of the same copy of @assent/core.\n");
  });
});

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createRegistry } from "@assent/core";
import { ajvSchemas } from "@assent/host";
import type { LoadedTools } from "../../src/custom/load-custom-tools.ts";
import { reloadCustomTools } from "../../src/custom/load-custom-tools.ts";
import { ended, governed, place, summary, toolModule } from "./bench.ts";

function said(text: string): string {
  return `return { content: [{ type: "text", text: ${text} }] };`;
}

async function textOf({ tools }: LoadedTools, at: Parameters<typeof governed>[0]): Promise<string> {
  const loaded = { tools, failed: [], untrusted: [], close: () => undefined };
  return (await (await governed(at, loaded)).call(tools[0]?.tool.name ?? "")).text;
}

describe("reload", () => {
  test("says which tools are new, changed and gone; the rest are what they were", async (t) => {
    const at = place(t);
    for (const name of ["same", "code", "label", "schema", "gone", "broken"]) at.write(`config/tools/${name}.ts`, toolModule(name));
    const before = await at.load();
    at.write("config/tools/code.ts", toolModule("code", "", said("'new'")));
    at.write("config/tools/label.ts", toolModule("label", 'label: "Another"'));
    at.write("config/tools/schema.ts", toolModule("schema", 'parameters: { type: "object", properties: { a: {} } }'));
    at.write("config/tools/broken.ts", "export default () => { throw new Error('broken'); };");
    at.write("config/tools/new.ts", toolModule("new"));
    rmSync(join(at.user, "gone.ts"));
    const { changed, removed, added, ...now } = await reloadCustomTools(before, at.options());
    assert.deepEqual({ changed, removed, added }, { changed: ["code", "label", "schema"], removed: ["broken", "gone"], added: ["new"] });
    assert.deepEqual(summary(now), {
      tools: ["code", "label", "new", "same", "schema"],
      failed: ["factory_error: Factory failed: broken"],
    });
  });

  test("a changed file of a project that is no longer trusted takes its tools away", async (t) => {
    const at = place(t);
    at.write(".assent/tools/a.ts", toolModule("a"));
    const before = await at.load();
    const now = await reloadCustomTools(before, at.options({ trusted: false }));
    assert.deepEqual([now.removed, now.untrusted.length], [["a"], 1]);
  });

  const FORMS: readonly (readonly [
    sentence: string,
    entry: string,
    entryText: string,
    part: string,
    partText: (value: number) => string,
  ])[] = [
    [
      "a file",
      "a.ts",
      `import { n } from "./_part.ts"; ${toolModule("a", "", said("String(n)"))}`,
      "_part.ts",
      (n) => `export const n: number = ${n};`,
    ],
    [
      "a CommonJS file of an ES module",
      "a.ts",
      `import n from "./_part.cjs"; ${toolModule("a", "", said("String(n)"))}`,
      "_part.cjs",
      (n) => `module.exports = ${n};`,
    ],
    [
      "a CommonJS file of another",
      "a.cjs",
      `const n = require("./_part.cjs"); ${toolModule("a", "", said("String(n)")).replace("export default", "module.exports =")}`,
      "_part.cjs",
      (n) => `module.exports = ${n};`,
    ],
    [
      "a file that is imported while a call runs",
      "a.ts",
      toolModule("a", "", `const { n } = await import("./_part.ts"); ${said("String(n)")}`),
      "_part.ts",
      (n) => `export const n = ${n};`,
    ],
  ];
  for (const [sentence, entry, entryText, part, partText] of FORMS) {
    test(`${sentence} that a module imports is read anew too`, async (t) => {
      const at = place(t);
      at.write(`config/tools/${entry}`, entryText);
      at.write(`config/tools/${part}`, partText(1));
      const before = await at.load();
      assert.equal(await textOf(before, at), "1");
      at.write(`config/tools/${part}`, partText(2));
      assert.equal(await textOf(await reloadCustomTools(before, at.options()), at), "2");
      assert.equal(await textOf(before, at), "1", "old tools stay what they are");
    });
  }

  test("packages are read anew, too", async (t) => {
    const at = place(t);
    at.write("node_modules/counted/package.json", '{ "name": "counted", "type": "module", "exports": "./index.js" }');
    at.write("node_modules/counted/index.js", "export const n = 1;");
    at.write("config/tools/a.ts", `import { n } from "counted"; ${toolModule("a", "", said("String(n)"))}`);
    const before = await at.load();
    at.write("node_modules/counted/index.js", "export const n = 2;");
    assert.equal(await textOf(await reloadCustomTools(before, at.options()), at), "2");
    assert.equal(await textOf(before, at), "1");
  });

  test("a call that runs finishes with the old code", async (t) => {
    const at = place(t);
    const waiting = `api.logger.info("begun"); const { existsSync } = await import("node:fs");
      while (!existsSync(ctx.cwd + "/go")) await new Promise((resolve) => setImmediate(resolve));`;
    at.write("config/tools/a.ts", toolModule("a", "", `${waiting} ${said("'old'")}`));
    const before = await at.load();
    const { call } = await governed(at, before);
    const calling = call("a");
    await at.logged("begun");
    at.write("config/tools/a.ts", toolModule("a", "", said("'new'")));
    await reloadCustomTools(before, at.options());
    at.write("go", "");
    assert.equal((await calling).text, "old");
  });

  const WAITING: readonly (readonly [sentence: string, change: (at: ReturnType<typeof place>) => void, type: string | null])[] = [
    ["changed: its waiting call ends", (at) => void at.write("config/tools/a.ts", toolModule("a", 'label: "B"')), "tool_changed"],
    ["removed: its waiting call ends", (at) => rmSync(join(at.user, "a.ts")), "tool_changed"],
    ["failing to load: its waiting call ends", (at) => void at.write("config/tools/a.ts", "("), "tool_changed"],
    ["unchanged: its call goes on", () => undefined, "denied_unattended"],
  ];
  for (const [sentence, change, type] of WAITING) {
    test(`a tool is ${sentence}`, async (t) => {
      const at = place(t);
      at.write("config/tools/a.ts", toolModule("a"));
      const before = await at.load();
      const first = await governed(at, before, { policy: { mode: "default" }, onAsk: "park" });
      assert.equal((await first.call("a")).outcome, "waiting");
      change(at);
      const now = await reloadCustomTools(before, at.options());
      const registry = createRegistry({ schemas: ajvSchemas() });
      for (const { tool } of now.tools) registry.add(tool);
      const second = await governed(at, now, { policy: { mode: "default" }, onAsk: "deny", beside: first });
      const { results } = await second.dispatcher.resume({ tools: registry, signal: new AbortController().signal });
      assert.deepEqual(
        results.map((report) => ended(report).type),
        [type],
      );
    });
  }
});

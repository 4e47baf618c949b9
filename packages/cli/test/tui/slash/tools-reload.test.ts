import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { contentText } from "@assent/core";
import { place } from "../../support/assent.ts";
import { converse, converseAbout, type Ended, endedCalls, READY, say } from "../support/conversation.ts";

const ALLOWED = { permissions: { allow: ["greet", "gate"] } };
const RELOADED = /Reloaded custom tools/;

/** A tool that says one word. */
function greeting(word: string, description = "Greets."): string {
  return `export default () => ({
  name: "greet", description: "${description}", parameters: { type: "object" },
  execute: async () => ({ content: [{ type: "text", text: "${word}" }] }),
});`;
}

/** A tool that ends once there is a file. */
const GATE = `import { existsSync } from "node:fs";
export default ({ cwd }) => ({
  name: "gate", description: "Waits.", parameters: { type: "object" },
  execute: async (id, params, onUpdate, ctx, signal) => {
    while (!signal.aborted && !existsSync(cwd + "/open")) await new Promise((resolve) => setTimeout(resolve, 25));
    return { content: [{ type: "text", text: "open" }] };
  },
});`;

const said = (ended: Ended | undefined): string => contentText(ended?.content ?? "");
const greet = (id: string): { tool: string; id: string; input: object } => ({ tool: "greet", id, input: {} });

describe("custom tools: /tools reload", () => {
  test("what was written since counts from then on, and not before; what came of it is said", async () => {
    using at = place();
    const file = at.write("greet.mjs", greeting("Hello"));
    using screen = await converseAbout(at, "first", {
      columns: 120,
      args: ["--tool", file],
      settings: ALLOWED,
      turns: ["c1", "c2", "c3"].flatMap((id) => [{ calls: [greet(id)] }, { say: `${id} is done.` }]),
    });
    await screen.until("c1 is done.");
    at.write("greet.mjs", greeting("Hi"));
    await say(screen, "again");
    await screen.until("c2 is done.");
    await say(screen, "/tools reload");
    await screen.until("Reloaded custom tools: greet changed, 1 loaded");
    await say(screen, "once more");
    await screen.until("c3 is done.");
    const ends = await endedCalls(at);
    assert.deepEqual(
      ["c1", "c2", "c3"].map((id) => said(ends.get(id))),
      ["Hello", "Hello", "Hi"],
    );
  });

  test("a module that is broken says where, and its tools are gone until it is mended; others stay", async () => {
    using at = place();
    const file = at.write("greet.ts", greeting("Hello"));
    const other = at.write("gate.mjs", GATE);
    using screen = converse(at, {
      columns: 160,
      args: ["--tool", file, "--tool", other],
      settings: ALLOWED,
      turns: ["c1", "c2"].flatMap((id) => [{ calls: [greet(id)] }, { say: `${id} is done.` }]),
    });
    await screen.until(READY);
    at.write("greet.ts", "export default () => ({\n  name: 'greet',,\n});");
    await say(screen, "/tools reload");
    const shown = (await screen.until(RELOADED)).replaceAll(/\s+/g, " ");
    assert.match(shown, /Custom tool failed: \S+greet\.ts: .+ \(line 2\)/);
    assert.match(shown, /Reloaded custom tools: greet was removed, 1 loaded/);
    await say(screen, "try it");
    await screen.until("c1 is done.");
    at.write("greet.ts", greeting("Back", "Greets again."));
    await say(screen, "/tools reload");
    await screen.until("greet is new, 2 loaded");
    await say(screen, "try again");
    await screen.until("c2 is done.");
    const ends = await endedCalls(at);
    assert.deepEqual([ends.get("c1")?.outcome, said(ends.get("c2"))], ["invalid", "Back"]);
  });

  test("never inside a turn: the calls of the one under way keep the old code, the next turn has the new", async () => {
    using at = place();
    const file = at.write("greet.mjs", greeting("Hello"));
    const gate = at.write("gate.mjs", GATE);
    using screen = await converseAbout(at, "go", {
      columns: 120,
      rows: 50,
      args: ["--tool", file, "--tool", gate],
      settings: ALLOWED,
      turns: [{ calls: [{ tool: "gate", id: "g", input: {} }, greet("c1")] }, { calls: [greet("c2")] }, { say: "All is done." }],
    });
    await screen.until(/» gate[\s\S]*running/);
    at.write("greet.mjs", greeting("Hi", "Greets otherwise."));
    await say(screen, "/tools reload");
    await screen.until("Custom tools reload before the model's next turn.");
    await say(screen, "/explain shell ls"); // it takes longer than loading them would
    await screen.until(/\/explain shell ls[\s\S]*allow/);
    assert.doesNotMatch(screen.scrollback().join("\n"), RELOADED);
    at.write("open", "");
    await screen.until("All is done.");
    assert.match(screen.scrollback().join("\n"), /greet changed, 2 loaded/);
    const ends = await endedCalls(at);
    assert.deepEqual([said(ends.get("c1")), said(ends.get("c2"))], ["Hello", "Hi"]);
  });

  test("where the turn under way is the last, they are loaded when it has ended", async () => {
    using at = place();
    const gate = at.write("gate.mjs", GATE);
    using screen = await converseAbout(at, "go", {
      columns: 120,
      args: ["--tool", gate],
      settings: ALLOWED,
      turns: [{ calls: [{ tool: "gate", id: "g", input: {} }] }, { say: "Never said." }],
    });
    await screen.until(/» gate[\s\S]*running/);
    await say(screen, "/tools reload");
    await screen.until("before the model's next turn");
    screen.press("escape");
    await screen.until(/Interrupted[\s\S]*1 loaded/);
  });

  test("line by line it is the same", async () => {
    using at = place();
    const file = at.write("greet.mjs", greeting("Hello"));
    using screen = converse(at, { columns: 160, args: ["--tool", file, "--plain"], settings: ALLOWED });
    await screen.until("You: ");
    writeFileSync(file, "export default 3;");
    screen.type("/tools reload\r");
    const shown = await screen.until(
      /Custom tool failed: \S+greet\.mjs: Default export is not a factory function[\s\S]*greet was removed, 0 loaded/,
    );
    assert.match(shown, /^Reloaded custom tools: /m);
  });

  test("in the person's own folder a file that is new, or gone, counts too", async () => {
    using at = place();
    using screen = converse(at, { columns: 120, turns: [] });
    await screen.until(READY);
    const folder = join(at.root, ".config", "assent", "tools");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "greet.mjs"), greeting("Hello"));
    await say(screen, "/tools reload");
    await screen.until("greet is new, 1 loaded");
    rmSync(join(folder, "greet.mjs"));
    await say(screen, "/tools reload");
    await screen.until("greet was removed, 0 loaded");
  });
});

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { place } from "./support/assent.ts";

const GREET = `export default () => ({
  name: "greet", description: "Greets.", parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  execute: async (id, { who }) => ({ content: [{ type: "text", text: "Hello, " + who + "." }] }),
});`;
const PENDING = `export default () => ({
  name: "tidy", description: "Tidies.", parameters: { type: "object" },
  execute: async (id, params, onUpdate, ctx) => {
    ctx.pushPendingAction({ label: "Tidy up", sourceToolName: "tidy", apply: () => ({ content: [{ type: "text", text: "Tidied." }] }) });
    return { content: [{ type: "text", text: "It would be tidied." }] };
  },
});`;

describe("custom tools on the command line", () => {
  test("a tool that is named is judged, asked about and run like any other, also after a resume", async () => {
    using at = place();
    const file = at.write("greet.mjs", GREET);
    const parked = await at.hereJson(["call", "greet", "--tool", file, "--input", '{"who":"you"}', "--on-ask", "park"]);
    assert.equal(parked.code, 75, JSON.stringify(parked.value));
    assert.equal((await at.here(["approve", parked.value.approvalId])).code, 0);
    const { code, value } = await at.hereJson(["resume", parked.value.sessionId]);
    assert.deepEqual([code, value.content], [0, "Hello, you."]);
  });

  test("a tool of its own that takes a command passes by no hint of the shell's, and a deny of commands reaches it", async () => {
    using at = place();
    const file = at.write(
      "remote.mjs",
      `export default () => ({
        name: "remote", kind: "execute", description: "Runs it far away.",
        parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
        execute: async () => ({ content: [{ type: "text", text: "ran" }] }),
      });`,
    );
    const type = async (tool: string, command: string, ...flags: readonly string[]): Promise<string | null> => {
      const input = JSON.stringify({ command });
      const { value } = await at.hereJson(["call", tool, "--tool", file, "--input", input, "--on-ask", "deny", ...flags]);
      return value.type;
    };
    assert.deepEqual(
      [
        await type("shell", "ls"),
        await type("remote", "ls"),
        await type("remote", "ls", "--mode", "plan"),
        await type("remote", "ls; git push", "--mode", "yolo", "--deny", "Shell(git push)"),
      ],
      [null, "denied_unattended", "denied_by_mode", "denied_by_rule"],
    );
  });

  test("tools of the user's folder are there without being named; a deny rule holds for them", async () => {
    using at = place();
    const folder = join(at.root, ".config", "assent", "tools");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "greet.mjs"), GREET);
    const { value } = await at.hereJson(["tools"]);
    assert.ok(value.tools.some(({ name, source }: { name: string; source: string }) => name === "greet" && source.endsWith("greet.mjs")));
    const denied = await at.hereJson(["call", "greet", "--input", '{"who":"x"}', "--mode", "yolo", "--deny", "greet"]);
    assert.equal(denied.value.type, "denied_by_rule");
  });

  test("a project's tools are not even read before it is trusted", async () => {
    using at = place();
    mkdirSync(at.path(".assent/tools"), { recursive: true });
    at.write(
      ".assent/tools/bad.mjs",
      `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(join(at.root, "ran"))}, "");`,
    );
    const { value } = await at.hereJson(["tools"]);
    assert.deepEqual(
      value.failed.map(({ type, reason }: { type: string; reason: string }) => [type, reason]),
      [["untrusted", "1 custom tool in .assent/tools is not loaded: workspace not trusted."]],
    );
    assert.equal(existsSync(join(at.root, "ran")), false);
  });

  test("a module that cannot be loaded is told and changes nothing else; --strict-tools does not start", async () => {
    using at = place();
    const file = at.write("bad.mjs", "export default 3;");
    const plain = await at.here(["call", "list", "--tool", file, "--input", '{"path":"."}']);
    assert.equal(plain.code, 0, plain.stderr);
    assert.match(plain.stderr, /bad\.mjs: Default export is not a factory function/);
    const strict = await at.hereJson(["call", "list", "--tool", file, "--strict-tools", "--input", '{"path":"."}']);
    assert.deepEqual([strict.code, strict.value.error.type], [2, "bad_export"]);
    assert.equal((await at.hereJson(["sessions"])).value.length, 1, "nothing was begun");
  });

  test("CT-36: a pending action of a process that has ended is lost, and says so", async () => {
    using at = place();
    const file = at.write("tidy.mjs", PENDING);
    const done = await at.json(["call", "tidy", "--tool", file, "--mode", "yolo"]);
    assert.equal(done.code, 0, done.stderr);
    const [row] = (await at.hereJson(["proposals"])).value;
    assert.equal(row.label, "Tidy up");
    const late = await at.hereJson(["apply", row.id]);
    assert.deepEqual([late.code, late.value.error.type], [1, "proposal_lost"]);
    assert.match(late.value.error.message, /Lost: Tidy up was staged by a process that has ended\. Nothing was applied\. Preview again\./);
  });

  test("the example previews a batch of renames and applies exactly that", async () => {
    using at = place();
    for (const name of ["draft-a.txt", "draft-b.txt", "final.txt"]) at.write(name, name);
    const tool = new URL("../../../examples/custom-tools/rename.ts", import.meta.url).pathname;
    const { value: shown } = await at.hereJson(["tools", "rename_files", "--tool", tool]);
    assert.equal(shown.kind, "move");
    const input = JSON.stringify({ folder: ".", find: "draft", replace: "done" });
    const run = await at.hereJson(["call", "rename_files", "--tool", tool, "--input", input, "--mode", "yolo"]);
    assert.equal(run.code, 0, JSON.stringify(run.value));
    assert.deepEqual(
      readdirSync(at.workspace).filter((name) => name.endsWith(".txt")),
      ["done-a.txt", "done-b.txt", "final.txt"],
    );
    const [row] = (await at.hereJson(["proposals", "--all"])).value;
    assert.equal((await at.here(["undo", row.id])).code, 0);
    assert.ok(existsSync(at.path("draft-a.txt")));
  });
});

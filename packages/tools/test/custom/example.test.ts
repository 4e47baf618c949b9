import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Governed, governed, type Place, place } from "./bench.ts";

const directory = fileURLToPath(new URL("../../../../examples/custom-tools", import.meta.url));
const example = join(directory, "rename.ts");
const STAGED = { mode: "yolo", proposals: { resolver: "both", stages: () => true } } as const;

async function session(at: Place): Promise<Governed> {
  for (const name of ["IMG_1.jpg", "IMG_2.jpg", "notes.txt", "IMG_dir/IMG_3.jpg"]) at.write(`photos/${name}`, name);
  const loaded = await at.load({ explicit: [example] });
  assert.deepEqual(loaded.failed, []);
  return await governed(at, loaded, { policy: STAGED });
}

function names(at: Place): readonly string[] {
  return readdirSync(join(at.root, "photos")).sort();
}

describe("examples/custom-tools/rename.ts", () => {
  test("has fewer than 60 lines", () => assert.ok(readFileSync(example, "utf8").split("\n").length <= 60));

  test("its calls give the output in rename.out", async (t) => {
    const at = place(t);
    const { call } = await session(at);
    const promised = readFileSync(join(directory, "rename.out"), "utf8");
    const calls = [...promised.matchAll(/^> (\w+) (.*)$/gm)];
    assert.ok(calls.length > 1);
    let printed = "";
    for (const [line, name = "", input = ""] of calls) {
      printed += `${line}\n${(await call(name, JSON.parse(input))).text.replace(/p_\w+/, "p_7f3k")}\n`;
    }
    assert.equal(printed, promised);
    assert.deepEqual(names(at), ["IMG_dir", "lisbon-1.jpg", "lisbon-2.jpg", "notes.txt"]);
    assert.equal(readFileSync(join(at.root, "photos/lisbon-1.jpg"), "utf8"), "IMG_1.jpg");
  });

  const CALLS: readonly (readonly [sentence: string, input: object, outcome: string, type: string | null])[] = [
    ["nothing to rename is said, and nothing is staged", { folder: "photos", find: "RAW", replace: "" }, "succeeded", null],
    [
      "a name that leaves the folder is denied in every mode",
      { folder: "photos", find: "IMG_", replace: "../" },
      "denied",
      "denied_by_tool",
    ],
    ["a folder that is not there", { folder: "none", find: "a", replace: "b" }, "failed", "file_not_found"],
    ["an empty text to look for is no input", { folder: "photos", find: "", replace: "b" }, "invalid", "invalid_tool_params"],
  ];
  for (const [sentence, input, outcome, type] of CALLS) {
    test(sentence, async (t) => {
      const at = place(t);
      const opened = await session(at);
      const before = names(at);
      const ended = await opened.call("rename_files", input);
      assert.deepEqual([ended.outcome, ended.type], [outcome, type], ended.text);
      assert.deepEqual([names(at), opened.session.state.proposals.size], [before, 0]);
    });
  }

  test("a name that is taken stops all of it", async (t) => {
    const at = place(t);
    const { call } = await session(at);
    at.write("photos/lisbon-2.jpg", "taken");
    await call("rename_files", { folder: "photos", find: "IMG_", replace: "lisbon-" });
    assert.equal((await call("resolve", { action: "apply", reason: "" })).outcome, "failed");
    assert.ok(existsSync(join(at.root, "photos/IMG_1.jpg")) && readFileSync(join(at.root, "photos/lisbon-2.jpg"), "utf8") === "taken");
  });
});

describe("examples/custom-tools/deploy.ts", () => {
  test("its calls give the output in deploy.out, and only the applied one has an effect", async (t) => {
    const at = place(t);
    const loaded = await at.load({ explicit: [join(directory, "deploy.ts")] });
    assert.deepEqual(loaded.failed, []);
    const { call } = await governed(at, loaded, { policy: { mode: "yolo" } });
    const promised = readFileSync(join(directory, "deploy.out"), "utf8");
    let printed = "";
    for (const [line, name = "", input = ""] of promised.matchAll(/^> (\w+) (.*)$/gm))
      printed += `${line}\n${(await call(name, JSON.parse(input))).text}\n`;
    assert.equal(printed, promised);
    assert.equal(readFileSync(join(at.root, "deployed.txt"), "utf8"), "web 2\n");
  });

  test("parameters that the schema refuses never reach it", async (t) => {
    const at = place(t);
    const { call } = await governed(at, await at.load({ explicit: [join(directory, "deploy.ts")] }), { policy: { mode: "yolo" } });
    assert.equal((await call("deploy", { service: "web; rm -rf /" })).outcome, "invalid");
  });
});

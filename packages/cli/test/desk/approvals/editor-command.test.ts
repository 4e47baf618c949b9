import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { findEditor } from "../../../src/desk/approvals/editor-command.ts";

const root = mkdtempSync(join(tmpdir(), "assent-editor-"));
after(() => rmSync(root, { recursive: true }));

/** A directory with these programs in it. */
function programs(name: string, ...files: readonly string[]): string {
  const directory = join(root, name);
  mkdirSync(directory);
  for (const file of files) writeFileSync(join(directory, file), "#!/bin/sh\n", { mode: 0o755 });
  return directory;
}

describe("which editor is opened", () => {
  const both = programs("both", "vi", "nano");
  const vi = programs("vi", "vi");
  const none = programs("none", "cat");
  const dead = programs("dead", "nano");
  chmodSync(join(dead, "nano"), 0o644);
  mkdirSync(join(dead, "vi"));
  const ROWS: readonly [sentence: string, env: Record<string, string>, setting: string | undefined, line: string | undefined][] = [
    ["the one of the settings comes first", { VISUAL: "v", EDITOR: "e", PATH: both }, "code --wait", "code --wait"],
    ["then VISUAL", { VISUAL: "v -x", EDITOR: "e", PATH: both }, undefined, "v -x"],
    ["then EDITOR; what is blank names nothing", { VISUAL: " ", EDITOR: "e", PATH: both }, "", "e"],
    ["then one that explains itself", { PATH: both }, undefined, "nano"],
    ["then any that is there", { EDITOR: "", PATH: `${none}:${vi}` }, undefined, "vi"],
    ["a file that cannot be run, and a directory, are none", { PATH: dead }, undefined, undefined],
    ["places that are not absolute do not count", { PATH: "vi:.:" }, undefined, undefined],
    ["without a PATH there is none", {}, undefined, undefined],
  ];
  for (const [sentence, env, setting, line] of ROWS) test(sentence, () => assert.equal(findEditor(env, setting), line));
});

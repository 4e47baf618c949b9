import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { RUN_EXITS } from "../../src/command-line/options.ts";
import { BIN, place } from "../support/assent.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const examples = join(ROOT, "examples/headless");
const page = readFileSync(join(ROOT, "docs/headless.md"), "utf8");

describe("docs/headless.md", () => {
  const transcripts = readdirSync(examples).filter((name) => name.endsWith(".out"));

  test("there are transcripts", () => assert.ok(transcripts.length > 0));

  for (const name of transcripts) {
    test(`the commands of examples/headless/${name} print the listed output`, () => {
      using at = place();
      for (const file of readdirSync(examples)) copyFileSync(join(examples, file), at.path(file));
      const promised = readFileSync(join(examples, name), "utf8");
      const commands = [...promised.matchAll(/^\$ (.*)$/gm)].map(([, command]) => command ?? "");
      const env = { ...at.env, NODE: process.execPath, BIN };
      const printed = commands.map((command) => {
        const script = `assent() { "$NODE" "$BIN" "$@" < /dev/null; }\n${command}`;
        const { stdout, stderr } = spawnSync("bash", ["-c", script], { cwd: at.workspace, env, encoding: "utf8" });
        return `$ ${command}\n${stdout}${stderr}`;
      });
      assert.equal(printed.join(""), promised);
    });
  }

  test("it names every exit code of a run", () => {
    const named = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    assert.deepEqual(named, Object.keys(RUN_EXITS).map(Number));
  });
});

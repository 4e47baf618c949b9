import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { mentionsGuard, setsOwnVariable } from "../../src/safeguards/own-commands.ts";

const MENTIONS: readonly (readonly [text: string, mentions: boolean])[] = [
  ["assent approve a_1", true],
  ["assent --store /x approve a_1", true],
  ["assent --json --store /x approve a_1", true],
  ["assent --store /x /y approve", false],
  ['["assent", "--json", "grants", "promote"]', true],
  ["/usr/bin/assent reject", true],
  ["node x/assent.js trust", true],
  ["npx @assent/cli@1.2.3 approve", true],
  ["assent grants", false],
  ["assent grants list", false],
  ["assent approvers", false],
  ["assent apply-all", false],
  ["my-assent approve", false],
  ["consent approve", false],
  ["pkill -f assent", true],
  ["assent runs; kill 5", false],
  ["echo $ASSENT_STORE", true],
];
for (const [text, mentions] of MENTIONS)
  test(`${JSON.stringify(text)} ${mentions ? "names" : "does not name"} a command or process of Assent`, () =>
    assert.equal(mentionsGuard(text), mentions));

const SETS: readonly (readonly [text: string, sets: boolean])[] = [
  ["ASSENT_STORE=/x ls", true],
  ["ASSENT_STORE+=x", true],
  ["export A=1 ASSENT_STORE", true],
  ["unset -v ASSENT_STORE", true],
  ["env -u ASSENT_STORE ls", true],
  ["env --unset=ASSENT_STORE ls", true],
  ["export A=1; echo $ASSENT_STORE", false],
  ["echo $ASSENT_STORE", false],
];
for (const [text, sets] of SETS)
  test(`${JSON.stringify(text)} ${sets ? "sets" : "does not set"} a variable of Assent`, () => assert.equal(setsOwnVariable(text), sets));

/** Repeated to 200 KB. Searching them takes a few milliseconds, or minutes with a pattern that tries every way to split them. */
const HOSTILE: readonly (readonly [start: string, repeated: string])[] = [
  ["npx assent ", "-a,"],
  ["npx assent ", "-a b "],
  ["npx ", "assent "],
  ["npx ", "@assent/cli@"],
  ["npx ", "assent grants "],
  ["npx assent", " "],
  ["npx assent@", "1."],
  ["echo ", "kill "],
  ["echo ", "gdb\n"],
  ["true ", "export "],
  ["true ", "unset "],
  ["env -u", " "],
  ["env ", "-u "],
  ["ASSENT_", "A"],
  ["", "ASSENT_A "],
];
for (const [start, repeated] of HOSTILE)
  test(`${JSON.stringify(start)} with 200 KB of ${JSON.stringify(repeated)} is searched within 5 CPU seconds`, () => {
    const module = fileURLToPath(new URL("../../src/safeguards/own-commands.ts", import.meta.url));
    const code = `
      const { mentionsGuard, setsOwnVariable } = await import(${JSON.stringify(module)});
      const text = ${JSON.stringify(start)} + ${JSON.stringify(repeated)}.repeat(${Math.ceil(200_000 / repeated.length)});
      mentionsGuard(text);
      setsOwnVariable(text);`;
    const node = [process.execPath, "--conditions=@assent/source", "--input-type=module", "-e", code];
    const { status, signal, stderr } = spawnSync("sh", ["-c", 'ulimit -t 5 && exec "$@"', "sh", ...node], { encoding: "utf8" });
    assert.deepEqual({ status, signal, stderr }, { status: 0, signal: null, stderr: "" });
  });

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { editFile, type FileOutcome } from "../../src/ast/edit-file.ts";
import { editInThreads } from "../../src/ast/edit-threads.ts";
import type { EditWorkerStart } from "../../src/ast/edit-worker.ts";
import { loadEngine } from "../../src/ast/engine.ts";
import { LANGUAGES, languageOf } from "../../src/ast/languages.ts";
import { prepareOps } from "../../src/ast/prepared-ops.ts";
import { readSource } from "../../src/ast/source-files.ts";
import type { Target } from "../../src/ast/targets.ts";
import { scratch } from "../scratch.ts";
import { plant } from "./workbench.ts";

const OPS = [
  { pat: "f($$$A)", out: "g($$$A)" },
  { pat: "h($A, $A)", out: "h2($A" },
  { pat: "f(k)", out: "l" },
];
const NEVER = new AbortController().signal;

/** One of everything that can become of a file. */
const KINDS: Readonly<Record<string, string | Buffer>> = {
  "changed.ts": "const a = f(1);\n  f(\n    2,\n  );\n",
  "nested.ts": "f(f(f(1)))",
  "none.ts": "k(1)",
  "broken.ts": "f(1); if (",
  "result-broken.ts": "h(é, é)",
  "overlapping.ts": "f(k)",
  "marked.ts": "\ufefff(1)\r\nf(2)",
  "empty.ts": "",
  "binary.ts": Buffer.from([0x66, 0, 0x29]),
  "latin.ts": Buffer.from([0x66, 0xe9]),
  "other.py": "x = f(1)\n",
  "other.css": "a { width: f(1) }",
};

function planted(root: string, copies: number): readonly Target[] {
  for (let copy = 0; copy < copies; copy++)
    plant(root, Object.fromEntries(Object.entries(KINDS).map(([name, content]) => [`${String(copy).padStart(3, "0")}/${name}`, content])));
  const paths = [...readdirSync(root, { recursive: true, encoding: "utf8" }), "gone.ts"].toSorted().map((name) => join(root, name));
  return paths.flatMap((path) => {
    const language = languageOf(path);
    return language ? [{ path, realPath: path, language, named: false }] : [];
  });
}

async function start(ops: readonly { readonly pat: string; readonly out: string }[] = OPS): Promise<EditWorkerStart> {
  const ready = prepareOps(await loadEngine(), ops);
  return { ops: new Map(LANGUAGES.map((language) => [language.name, ready.in(language)])) };
}

async function all(outcomes: AsyncIterable<FileOutcome>): Promise<readonly FileOutcome[]> {
  const heard: FileOutcome[] = [];
  for await (const outcome of outcomes) heard.push(outcome);
  return heard;
}

/** Bytes are compared, not what holds them. */
function plainBytes(outcome: FileOutcome): unknown {
  if (outcome.state !== "searched" || !outcome.edit) return outcome;
  const { before, after } = outcome.edit;
  return {
    ...outcome,
    edit: { ...outcome.edit, before: Buffer.from(before).toString("hex"), after: Buffer.from(after).toString("hex") },
  };
}

test("threads make of files what this thread makes of them, in the same order", async (t) => {
  const targets = planted(scratch(t), 20);
  const begun = await start();
  const { parse } = await loadEngine();
  const expected: FileOutcome[] = [];
  for (const target of targets)
    expected.push(await editFile(readSource(target.realPath), target.language, { parse, ops: ({ name }) => begun.ops.get(name) ?? [] }));
  const outcomes = await all(editInThreads(targets, begun, NEVER));
  assert.deepEqual(new Set(expected.map(({ state }) => state)), new Set(["searched", "skipped", "broken", "overlapping"]));
  assert.equal(expected.filter((outcome) => outcome.state === "searched" && outcome.edit).length, 20 * 5);
  assert.ok(expected.some((outcome) => outcome.state === "searched" && outcome.edit?.isBroken));
  assert.deepEqual(outcomes.map(plainBytes), expected.map(plainBytes));
});

test("stopping the iteration ends the threads", async (t) => {
  const targets = planted(scratch(t), 20);
  for await (const { state } of editInThreads(targets, await start(), NEVER)) {
    assert.equal(state, "skipped");
    break;
  }
});

test("an abort ends the search in threads, also before it begins", async (t) => {
  const targets = planted(scratch(t), 20);
  const abort = new AbortController();
  const begun = await start();
  const search = async (): Promise<void> => {
    for await (const _ of editInThreads(targets, begun, abort.signal)) abort.abort(new Error("enough"));
  };
  await assert.rejects(search(), { message: "enough" });
  await assert.rejects(search(), { message: "enough" });
});

test("what a thread throws is heard", async (t) => {
  const targets = planted(scratch(t), 1);
  const { ops } = await start();
  const faulty = new Map(
    [...ops].map(([name, ready]) => [
      name,
      ready.map((op) => ({ ...op, pattern: { ...op.pattern, config: { rule: { kind: "nothing" } } } })),
    ]),
  );
  await assert.rejects(all(editInThreads(targets, { ops: faulty }, NEVER)), /nothing/);
});

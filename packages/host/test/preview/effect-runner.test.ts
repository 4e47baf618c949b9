import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { withoutProgram } from "../../../../test/support/programs.ts";
import { createEffectRunner, type EffectRun } from "../../src/preview/effect-runner.ts";
import { createHostProcesses } from "../../src/processes/processes.ts";
import { scratch } from "../scratch.ts";

type Runner = {
  readonly workspace: string;
  readonly directory: string;
  readonly run: (command: string, exact?: boolean) => Promise<EffectRun>;
};

/** A workspace with a few files of every kind, and as many more as it takes for an overlay. */
function runner(t: TestContext, more: number): Runner {
  const root = scratch(t);
  const [workspace, directory] = [join(root, "workspace"), join(root, "previews")];
  mkdirSync(join(workspace, "build/deep"), { recursive: true });
  for (const name of ["a.txt", "b.txt", "build/one", "build/deep/two"]) writeFileSync(join(workspace, name), `${name}\n`);
  symlinkSync("a.txt", join(workspace, "link"));
  chmodSync(join(workspace, "b.txt"), 0o640);
  for (let n = 0; n < more; n++) {
    if (n % 100 === 0) mkdirSync(join(workspace, `many/${n / 100}`), { recursive: true });
    writeFileSync(join(workspace, `many/${Math.floor(n / 100)}/${n}`), "");
  }
  const effects = createEffectRunner({ processes: createHostProcesses(), workspace, directory });
  const env = { PATH: "/usr/bin:/bin", HOME: root };
  const run = (command: string, exact = false): Promise<EffectRun> =>
    effects.run({ file: "/bin/bash", args: ["-c", command], cwd: workspace, env, timeoutMs: 20_000, exact }, new AbortController().signal);
  return { workspace, directory, run };
}

const COMMAND =
  "echo x >> a.txt; rm -rf build; ln -sf b.txt link; chmod 600 b.txt; mkdir -p new/deep; echo n > new/deep/n; echo same > /tmp/out";
const CHANGES = [
  "modified a.txt",
  "mode b.txt (mode 0640 to 0600)",
  "deleted build (directory)",
  "deleted build/deep (directory)",
  "deleted build/deep/two",
  "deleted build/one",
  "modified link (link to b.txt)",
  "created new (directory)",
  "created new/deep (directory)",
  "created new/deep/n",
];

describe("a program on a view of the workspace", { skip: withoutProgram("bwrap") }, () => {
  for (const [how, more] of [
    ["copy", 0],
    ["overlay", 4_000],
  ] as const)
    test(`${how}: every change is listed, the workspace stays as it is, and nothing is left`, async (t) => {
      const { workspace, directory, run } = runner(t, more);
      const found = await run(COMMAND);
      assert.equal(found.how, how);
      assert.deepEqual(
        found.changes.map(({ what, path, note }) => `${what} ${path}${note === undefined ? "" : ` (${note})`}`),
        CHANGES,
      );
      assert.deepEqual([found.unwritable, found.planned.length, found.outside], [undefined, CHANGES.length, ["/tmp/out"]]);
      assert.deepEqual([readFileSync(join(workspace, "a.txt"), "utf8"), readdirSync(directory)], ["a.txt\n", []]);
    });

  test("renaming a directory fails on an overlay and works on a copy", async (t) => {
    const { run } = runner(t, 4_000);
    const rename = 'perl -e \'exit(rename("build", "built") ? 0 : 1)\'';
    assert.notEqual((await run(rename)).end.exitCode, 0);
    const exact = await run(rename, true);
    assert.deepEqual([exact.how, exact.end.exitCode], ["copy", 0]);
  });

  const REFUSED: readonly (readonly [sentence: string, command: string, why: RegExp])[] = [
    ["a named pipe", "mkfifo p", /p is a named pipe/],
    ["a setuid file", "cp a.txt s; chmod 4755 s", /s has the setuid/],
    ["a file in place of a directory", "rm -rf build; echo x > build", /build was a directory and became a file/],
    ["more paths than the limit", "mkdir m; for i in {1..5100}; do : > m/$i; done", /more than 5000 paths/],
  ];
  for (const [sentence, command, why] of REFUSED)
    test(`${sentence} is named and cannot be written`, async (t) => {
      const { unwritable, planned } = await runner(t, 0).run(command);
      assert.match(unwritable ?? "", why);
      assert.deepEqual(planned, []);
    });

  test("a file that something else changes meanwhile is not taken for a change of the command", async (t) => {
    const { workspace, run } = runner(t, 0);
    const running = run("until [ -e /tmp/never ] || [ $((n++)) -gt 20 ]; do sleep 0.05; done; echo mine > b.txt");
    await new Promise((resolve) => setTimeout(resolve, 600));
    writeFileSync(join(workspace, "a.txt"), "theirs\n");
    writeFileSync(join(workspace, "b.txt"), "theirs\n");
    const { changes, unwritable } = await running;
    assert.deepEqual([changes, unwritable], [[], "Something else changed b.txt meanwhile."]);
  });
});

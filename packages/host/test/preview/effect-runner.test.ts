import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { withoutProgram } from "../../../../test/support/programs.ts";
import { type ConfinedView, createEffectRunner, type EffectRun } from "../../src/preview/effect-runner.ts";
import { createHostProcesses } from "../../src/processes/processes.ts";
import type { Confinement } from "../../src/sandbox/confine-program.ts";
import { probeSandbox } from "../../src/sandbox/probe.ts";
import { listVisibleRoots } from "../../src/sandbox/visible-roots.ts";
import { until } from "../hooks/hooks-bench.ts";
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
  const run = async (command: string, exact = false): Promise<EffectRun> => {
    const probe = await probeSandbox();
    if (!probe.works) throw new Error(probe.reason);
    const { sandbox } = probe;
    const limits = { roots: listVisibleRoots(env.PATH, root), masked: [], writable: [], readOnly: [], network: false };
    const confinement = (view: ConfinedView): Confinement => ({ sandbox, workspace, home: root, ...limits, ...view });
    const program = { file: "/bin/bash", args: ["-c", command], cwd: workspace, env, timeoutMs: 20_000 };
    return await effects.run({ ...program, exact, confinement }, new AbortController().signal);
  };
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

  test("overlay: links that lead out of the workspace are listed, not followed", async (t) => {
    const { changes } = await runner(t, 4_000).run("ln -s .. up; ln -s /etc away; rm -rf build; ln -s /etc build");
    assert.deepEqual(
      changes.map(({ what, path }) => `${what} ${path}`),
      ["created away", "refused build", "deleted build/deep", "deleted build/deep/two", "deleted build/one", "created up"],
    );
  });

  test("renaming a directory fails on an overlay and works on a copy", async (t) => {
    const { run } = runner(t, 4_000);
    const rename = 'perl -e \'exit(rename("build", "built") ? 0 : 1)\'';
    assert.notEqual((await run(rename)).end.exitCode, 0);
    const exact = await run(rename, true);
    assert.deepEqual([exact.how, exact.end.exitCode], ["copy", 0]);
  });

  test("directories that changed places are listed with what they contain now", async (t) => {
    const { changes, unwritable } = await runner(t, 0).run(
      "mkdir next; echo next > next/one; mv build old; mv next build; mv old/deep build/deep; mv old/one build/uno; rmdir old",
    );
    assert.deepEqual(
      [changes.map(({ what, path }) => `${what} ${path}`), unwritable],
      [["modified build/one", "created build/uno"], undefined],
    );
  });

  test("other content of the same length is a modification, also if the mode changed", async (t) => {
    const { changes } = await runner(t, 0).run("echo x.txt > b.txt; chmod 700 b.txt");
    assert.deepEqual(
      changes.map(({ what, path, note }) => `${what} ${path} (${note})`),
      ["modified b.txt (mode 0640 to 0700)"],
    );
  });

  test("a renamed directory can be written", async (t) => {
    const { changes, planned, unwritable } = await runner(t, 0).run("mv build built");
    assert.deepEqual([changes.length, planned.length, unwritable], [8, 8, undefined]);
  });

  const HOSTILE: readonly (readonly [sentence: string, command: string])[] = [
    ["paths that are too long for one name", 'cd /tmp; for i in {1..40}; do n=$(printf "%0200d" $i); mkdir $n && cd $n; done; touch f'],
    ["directories that are shut", "mkdir -p shut/in /tmp/shut/in; chmod 0 shut/in shut /tmp/shut"],
    ["many directories outside", "cd /tmp; for d in {1..4}; do mkdir x$d; (cd x$d; mkdir {1..500}); done"],
  ];
  for (const [sentence, command] of HOSTILE)
    test(`nothing is left of ${sentence}, and the next preview works`, async (t) => {
      const { directory, run } = runner(t, 0);
      await run(command);
      await until(() => readdirSync(directory).length === 0, "the view is removed");
      assert.equal((await run("echo x > a.txt")).unwritable, undefined);
    });

  const NOTES: readonly (readonly [sentence: string, command: string])[] = [
    ["a link to a secret", "echo secret > /tmp/s; ln -s /etc/passwd /tmp/.assent-left; kill -9 $PPID"],
    ["a named pipe", "mkfifo /tmp/.assent-left; kill -9 $PPID"],
    ["a directory", "mkdir -p /tmp/.assent-left/deep"],
  ];
  for (const [sentence, command] of NOTES)
    test(`${sentence} in place of the note about processes that stayed is not read`, async (t) => {
      assert.deepEqual((await runner(t, 0).run(command)).stayed, []);
    });

  test("a name with control characters is listed as it is, and a hard link is said to become a file of its own", async (t) => {
    const { changes, unwritable } = await runner(t, 0).run("touch $'new\\nline'; ln a.txt h");
    const linked = "one of several names of a file, becomes a file of its own";
    assert.deepEqual(unwritable, undefined);
    assert.deepEqual(
      changes.map(({ path, note }) => [path, note]),
      [
        ["h", linked],
        ["new\nline", undefined],
      ],
    );
  });

  const SET = { x64: 188, arm64: 5 }[process.arch as string] ?? 188;
  const attribute = (file: string): string =>
    `perl -e '($f, $n, $v) = ("${file}", "user.note", "x"); syscall(${SET}, $f, $n, $v, 1, 0) == 0 or die'`;
  const LIST =
    'pack("V", 2) . pack("vvV", 1, 6, 0xffffffff) . pack("vvV", 2, 4, $>) . join("", map { pack("vvV", $_, 4, 0xffffffff) } 4, 16, 32)';
  const accessList = `perl -e '($f, $n) = ("a.txt", "system.posix_acl_access"); $v = ${LIST}; syscall(${SET}, $f, $n, $v, length $v, 0) == 0 or die'`;
  const REFUSED: readonly (readonly [sentence: string, command: string, why: RegExp])[] = [
    ["a named pipe", "mkfifo p", /p is a named pipe/],
    ["a setgid file", "cp a.txt s; chmod 2755 s", /s has the setuid/],
    ["a file in place of a directory", "rm -rf build; echo x > build", /build was a directory and became a file/],
    ["a directory in place of a file", "rm a.txt; mkdir a.txt; echo x > a.txt/x", /a.txt was a file and became a directory/],
    ["an extended attribute", attribute("a.txt"), /Extended attributes .* a.txt\.$/],
    ["an extended attribute of a new file", `echo n > n; ${attribute("n")}`, /Extended attributes .* n\.$/],
    ["an extended attribute of a directory", attribute("build"), /Extended attributes .* build\.$/],
    ["an access control list", accessList, /access control lists .* a.txt\.$/],
    ["a name that is not UTF-8", "touch $'\\xff'", /not valid UTF-8/],
    ["a file that its owner cannot read", "chmod 000 a.txt", /a.txt is a file that its owner cannot read/],
    ["the mode of the workspace itself", "chmod 700 .", /the mode of the workspace itself/],
    ["more paths than the limit", "mkdir m; for i in {1..5100}; do : > m/$i; done", /more than 5000 paths/],
  ];
  for (const [sentence, command, why] of REFUSED)
    test(`${sentence} is named and cannot be written`, async (t) => {
      const { unwritable } = await runner(t, 0).run(command);
      assert.match(unwritable ?? "", why);
    });

  test("a file that something else changes meanwhile is not taken for a change of the command", async (t) => {
    const { workspace, directory, run } = runner(t, 0);
    const running = run("touch /tmp/ready; until [ -e /tmp/go ]; do sleep 0.01; done; echo mine > b.txt");
    const inTemporary = (name: string): string => join(directory, readdirSync(directory)[0] ?? "", "tmp", name);
    await until(() => existsSync(directory) && existsSync(inTemporary("ready")), "the command runs");
    writeFileSync(join(workspace, "a.txt"), "theirs\n");
    writeFileSync(join(workspace, "b.txt"), "theirs\n");
    writeFileSync(inTemporary("go"), "");
    const { changes, unwritable } = await running;
    assert.deepEqual([changes, unwritable], [[], "Something else changed b.txt meanwhile."]);
  });
});

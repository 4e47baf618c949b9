import assert from "node:assert/strict";
import { existsSync, lstatSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readProcessTable } from "../../packages/host/src/processes/table.ts";
import { REFUSED_CALLS } from "../../packages/host/src/sandbox/system-calls.ts";
import { withoutProgram } from "../support/programs.ts";
import { ESCAPE_TOOLS, ESCAPES } from "./containment-escapes.ts";
import { type ContainmentScene, openContainmentScene } from "./containment-scene.ts";

const skip = withoutProgram("bwrap") || withoutProgram("perl");
let scene: ContainmentScene;
let world: string;

describe("escapes", { skip }, () => {
  before(async () => {
    scene = await openContainmentScene();
    world = scene.snapshot();
  });
  after(() => scene.close());

  for (const [topic, escapes] of Object.entries(ESCAPES)) {
    for (const [sentence, script] of escapes) {
      test(`${topic} ${sentence}`, async () => {
        const received = scene.received.length;
        const { output, confined } = await scene.attempt(`${ESCAPE_TOOLS}\n${script}\necho attempted`);
        assert.equal(confined, true, output);
        assert.match(output, /attempted/);
        assert.doesNotMatch(output, /GOT THROUGH/);
        assert.equal(scene.received.length, received, "a service outside heard it");
        assert.equal(scene.snapshot(), world);
      });
    }
  }

  test("there are at least 60 attempts", () => assert.ok(Object.values(ESCAPES).flat().length >= 60));

  test("every refused system call fails because it is not permitted", async () => {
    const calls = Object.entries(REFUSED_CALLS).map(([name, numbers]) => `${name}=${numbers[process.arch === "arm64" ? 1 : 0]}`);
    const script = `perl -MErrno -e 'for (@ARGV) { my ($name, $number) = split /=/; next if $number < 0; $! = 0; my $got = syscall($number + 0, 0, 0, 0, 0, 0, 0); print "$name\\n" unless $got == -1 && $!{EPERM} }' ${calls.join(" ")}; echo end`;
    assert.equal((await scene.attempt(script)).output, "end\n");
  });

  test("a daemon does not survive its command", async () => {
    const mark = `assent-daemon-${process.pid}`;
    const script = `perl -e 'use POSIX; for (1, 2) { exit if fork; POSIX::setsid() } close $_ for *STDIN, *STDOUT, *STDERR; $0 = "${mark}"; $SIG{HUP} = $SIG{TERM} = "IGNORE"; sleep 300' & sleep 0.3; echo started`;
    const { output } = await scene.attempt(script);
    assert.match(output, /started/);
    const table = readProcessTable();
    const isThere = (): boolean => table.all().some(({ pid }) => commandOf(pid).includes(mark));
    for (let turn = 0; turn < 100 && isThere(); turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isThere(), false);
  });

  const CREATED: readonly (readonly [sentence: string, script: string, path: string])[] = [
    ["a file that runs code when a shell enters the directory", "echo x > .envrc", ".envrc"],
    ["servers for agents", "echo x > .mcp.json", ".mcp.json"],
    ["settings of an editor", "mkdir -p .vscode && echo x > .vscode/tasks.json", ".vscode/tasks.json"],
    ["a repository's link to another one", "echo /tmp > .git/commondir", ".git/commondir"],
    ["instructions for agents", "echo x > GEMINI.md", "GEMINI.md"],
    ["the address of a remote in the old form", "mkdir .git/remotes && echo 'URL: ext::id' > .git/remotes/origin", ".git/remotes"],
    ["the address of a branch in the old form", "mkdir .git/branches && echo 'ext::id' > .git/branches/origin", ".git/branches"],
    ["a control file in a directory that cannot be read", "mkdir hidden && echo x > hidden/.envrc && chmod 0 hidden", "hidden/.envrc"],
    [
      "a control file below a name with a newline",
      `mkdir new && mkdir "$(printf 'new/a\\nb')" && echo x > "$(printf 'new/a\\nb')/.envrc"`,
      "new/a\nb/.envrc",
    ],
    ["a link to a directory outside, as a directory of hooks", 'ln -s "$OUTSIDE" .husky', ".husky"],
    ["a control file in another directory", "mkdir -p new/deep && echo x > new/deep/.envrc", "new/deep/.envrc"],
    ["a control file in a directory that is moved into place", "mkdir made && echo x > made/.envrc && mv made moved", "moved/.envrc"],
    ["a link instead of a control file", "echo x > target && ln -s target .envrc", ".envrc"],
    ["Assent's settings in another directory", "mkdir -p new/.assent && echo x > new/.assent/settings.json", "new/.assent"],
    ["a repository", "git init -q new/repo", "new/repo/.git"],
    ["a link to a repository", "mkdir -p new/tree && echo 'gitdir: /tmp' > new/tree/.git", "new/tree/.git"],
    [
      "a hook of a submodule that has none",
      "mkdir -p .git/modules/more/hooks && echo x > .git/modules/more/hooks/pre-commit",
      ".git/modules/more/hooks",
    ],
    [
      "the configuration of a bare repository",
      "mkdir -p bare2/objects bare2/refs && touch bare2/HEAD && echo x > bare2/config",
      "bare2/config",
    ],
    ["configuration of one worktree", "echo x > .git/worktrees/other/config.worktree", ".git/worktrees/other/config.worktree"],
  ];
  for (const [sentence, script, path] of CREATED) {
    test(`what a confined command creates is moved away: ${sentence}`, async () => {
      const { notes } = await scene.attempt(script);
      assert.equal(existsSync(join(scene.workspace, path)), false);
      assert.equal(notes.length, 1);
      const moved = / put it back: mv -n (\S+) /.exec(notes[0] ?? "")?.[1] ?? "";
      assert.ok(lstatSync(moved));
      rmSync(join(moved, ".."), { recursive: true });
    });
  }

  test("a link to control files that a command bends is moved away", async () => {
    const { notes } = await scene.attempt("rm CLAUDE.md; ln -s file CLAUDE.md");
    assert.match(notes.join("\n"), /CLAUDE\.md\. It is a control file/);
    assert.equal(existsSync(join(scene.workspace, "CLAUDE.md")), false);
    symlinkSync("AGENTS.md", join(scene.workspace, "CLAUDE.md"));
  });

  test("ordinary work succeeds: files, commits, temporary files, pipes", async () => {
    rmSync(join(scene.workspace, ".git"), { recursive: true });
    await scene.attemptOutside("git init -q . 2>&1");
    writeFileSync(join(scene.workspace, ".git/description"), "x");
    const script =
      "echo x > made && mktemp >/dev/null && git -c user.email=a@b add made && git -c user.email=a@b commit -qm made && git log --oneline | wc -l";
    const { output } = await scene.attempt(script);
    assert.match(output, /^1$/m);
  });
});

describe("attempts that get through without a sandbox", { skip }, () => {
  const controls = Object.values(ESCAPES).flatMap((escapes) => escapes.filter(([, , control]) => control === "outside"));
  for (const [sentence, script] of controls) {
    test(sentence, async () => {
      const open = await openContainmentScene();
      try {
        assert.match(await open.attemptOutside(`${ESCAPE_TOOLS}\n${script}`), /GOT THROUGH/);
      } finally {
        await open.close();
      }
    });
  }
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

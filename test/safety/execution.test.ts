import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Ledger } from "@assent/core";
import { scriptedApprover } from "@assent/core/testing";
import { linesOf, openRun, type Scene, type SettingsText, scene, standings, type Told, written } from "./scene.ts";

/** Settings under which the programs of the scene are found without a shell. */
function reachable(at: Scene, more: SettingsText = {}): SettingsText {
  return { shell: { path: [at.bin, "/usr/bin", "/bin"] }, ...more };
}

/** A repository that names the canary wherever git takes the name of a program; what is in the index differs from what is on disk. */
function hostileRepository(at: Scene): (...args: string[]) => string {
  const canary = at.program("canary", `#!/bin/sh\necho "$0 $*" >> ${at.world}\nexit 1\n`);
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.test", ...args], {
      cwd: at.workspace,
      env: { PATH: "/usr/bin:/bin", HOME: join(at.root, "nobody"), GIT_CONFIG_NOSYSTEM: "1" },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  git("init", "-q");
  at.write("a.txt", "one\n");
  git("add", ".");
  git("commit", "-qm", "first");
  const tree = git("rev-parse", "HEAD^{tree}").trim();
  const signed = `tree ${tree}\nparent ${git("rev-parse", "HEAD").trim()}\nauthor a <a@example.test> 1 +0000\ncommitter a <a@example.test> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----\n\nsigned\n`;
  const commit = execFileSync("git", ["hash-object", "-t", "commit", "-w", "--stdin"], {
    cwd: at.workspace,
    input: signed,
    encoding: "utf8",
  });
  git("update-ref", "HEAD", commit.trim());
  git("stash", "list");
  for (const key of PROGRAM_KEYS) git("config", key, canary);
  for (const [key, value] of OTHER_KEYS) git("config", key, value.replaceAll("CANARY", canary));
  written(at.path("hooks/post-index-change"), `#!/bin/sh\n${canary} hook\n`, 0o755);
  written(at.path(".git/hooks/post-index-change"), `#!/bin/sh\n${canary} hook\n`, 0o755);
  at.write(".gitattributes", "*.txt diff=evil filter=evil merge=evil\n");
  at.write("a.txt", "one\ntwo\n");
  return git;
}

const PROGRAM_KEYS = [
  ...["core.fsmonitor", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean", "filter.evil.smudge"],
  ...["filter.evil.process", "merge.evil.driver", "core.pager", "pager.log", "pager.status", "pager.diff", "pager.show", "pager.branch"],
  ...["core.editor", "gpg.program", "gpg.ssh.program", "gpg.x509.program", "core.sshCommand", "core.askPass", "credential.helper"],
  ...["core.alternateRefsCommand", "interactive.diffFilter", "core.gitProxy", "trailer.x.command", "uploadpack.packObjectsHook"],
];

const OTHER_KEYS: readonly (readonly [string, string])[] = [
  ["log.showSignature", "true"],
  ["format.pretty", "%G? %s"],
  ["filter.evil.required", "true"],
  ["core.hooksPath", "hooks"],
  ["alias.st", "!CANARY"],
  ["diff.submodule", "log"],
  ["status.submoduleSummary", "true"],
];

/** The user's own environment may hold such names too. */
function hostileEnvironment(at: Scene): Record<string, string> {
  const canary = join(at.bin, "canary");
  const names = ["GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EDITOR", "EDITOR", "VISUAL", "LESSOPEN"];
  return {
    ...Object.fromEntries(names.map((name) => [name, canary])),
    GIT_TRACE: join(at.root, "trace"),
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.fsmonitor",
    GIT_CONFIG_VALUE_0: canary,
    GIT_EXEC_PATH: at.bin,
    GIT_DIR: join(at.root, "nowhere"),
  };
}

describe("git in a repository whose configuration names programs", () => {
  const LINES = [
    ...["git status", "git status -s", "git diff", "git diff HEAD", "git diff --stat", "git diff --cached", "git log", "git log -p"],
    ...["git log --oneline", "git log -3 --stat", "git show", "git show --stat", "git blame a.txt", "git branch", "git branch -a -v"],
    ...["git tag -l", "git remote -v", "git ls-files -m", "git ls-tree HEAD", "git rev-parse HEAD", "git describe --always"],
    ...["git stash list", "git reflog show", "git shortlog HEAD", "git rev-list HEAD", "git worktree list", "git --no-pager log"],
    ...["git status | head -n 1", "git diff && git log"],
  ];

  test("the canaries are alive: git by itself runs them", (t) => {
    const at = scene(t);
    const git = hostileRepository(at);
    for (const args of [["status"], ["diff"], ["log"], ["blame", "a.txt"]]) {
      const before = at.effects().length;
      try {
        git(...args);
      } catch {
        // the canary says no
      }
      assert.ok(at.effects().length > before, `git ${args.join(" ")}`);
    }
  });

  test("allowed by the hint, by a rule or by a grant, nothing of it runs", async (t) => {
    const at = scene(t);
    hostileRepository(at);
    const options = { env: hostileEnvironment(at) };
    const rule = { permissions: { allow: ["Shell(git *)"], readOnlyHint: "ask" } };
    const policies = [
      [{}, "readonly_hint"],
      [rule, "checker"],
    ] as const;
    for (const [settings, reason] of policies) {
      at.user(settings);
      for (const command of reason === "checker" ? LINES.slice(0, 4) : LINES) {
        const told = await at.shell(command, options);
        assert.equal(at.last("call.judged", told.sessionId).reason, reason, `${command}: ${told.content}`);
        assert.deepEqual(at.effects(), [], command);
        assert.equal(at.rows("call.claimed", told.sessionId).length, 1, command);
      }
    }
    assert.ok(!existsSync(join(at.root, "trace")));
  });

  test("a submodule with a configuration of its own is not looked into with its programs", async (t) => {
    const at = scene(t);
    const git = hostileRepository(at);
    const inside = (...args: string[]): string => git("-C", "sub", ...args);
    mkdirSync(at.path("sub"));
    inside("init", "-q");
    at.write("sub/b.txt", "one\n");
    inside("add", ".");
    inside("commit", "-qm", "first");
    const plain = [
      "-c",
      "core.fsmonitor=false",
      "-c",
      "filter.evil.clean=",
      "-c",
      "filter.evil.process=",
      "-c",
      "filter.evil.required=false",
    ];
    git(...plain, "add", "sub");
    git(...plain, "commit", "-qm", "with a submodule");
    for (const key of ["core.fsmonitor", "filter.other.clean", "filter.other.process", "diff.external"])
      inside("config", key, join(at.bin, "canary"));
    at.write("sub/.gitattributes", "* filter=other\n");
    at.write("sub/b.txt", "two\n");
    rmSync(at.world);
    for (const command of ["git status", "git diff", "git describe --always --dirty", "git ls-files -m", "git log -p", "git show"]) {
      await at.shell(command);
      assert.deepEqual(at.effects(), [], command);
    }
  });

  test("approved as a text it runs as git does: the guard is the approval", async (t) => {
    const at = scene(t);
    hostileRepository(at);
    const { approvalId, sessionId } = await at.shell("git status; true", { flags: ["--on-ask", "park", "--ask", "Shell(git)"] });
    await at.does(["approve", approvalId]);
    await at.resume(sessionId);
    assert.notDeepEqual(at.effects(), []);
  });
});

describe("nothing of one call reaches the next", () => {
  test("exports, a changed directory, functions and aliases of an approved call are gone in an allowed one", async (t) => {
    const at = scene(t);
    at.user(reachable(at, { permissions: { allow: ["Shell(effect *)", "Shell(tell)"] } }));
    at.program(
      "tell",
      `#!/bin/sh\npwd >> ${at.world}\ntr '\\0' '\\n' < /proc/$$/environ | grep -c '^GIT_PAGER=./x\\|^X=\\|BASH_FUNC' >> ${at.world}\ntrue\n`,
    );
    written(at.path("x"), `#!/bin/sh\necho pager >> ${at.world}\n`, 0o755);
    const run = await openRun(at, { approver: scriptedApprover({ c1: "approve" }) });
    const evil = "export GIT_PAGER=./x X=1 BASH_ENV=./x PATH=.; cd /tmp; tell() { echo evil; }; export -f tell; alias pwd=./x; umask 000";
    assert.deepEqual(standings(await run.shells([evil, "tell", "git log", "pwd"])), [
      ...["succeeded", "succeeded", "failed shell_execute_error", "succeeded"],
    ]);
    assert.deepEqual(at.effects(), [at.workspace, "0"]);
    await run.close();
  });
});

describe("programs are taken from where the system keeps them", () => {
  const NAMES = ["git", "ls", "cat", "pwd", "effect", "node", "npm"];

  function plant(at: Scene, directory: string): void {
    for (const name of NAMES) written(join(directory, name), `#!/bin/sh\necho planted ${name} >> ${at.world}\n`, 0o755);
  }

  test("a search path with the workspace in it, by any name, chooses no program of an allowed command", async (t) => {
    const at = scene(t);
    plant(at, at.workspace);
    plant(at, at.path("bin"));
    symlinkSync(at.workspace, join(at.root, "way-in"));
    const PATH = ["", ".", "bin", "./bin", at.workspace, at.path("bin"), join(at.root, "way-in"), "/usr/bin", "/bin"].join(":");
    for (const command of ["ls", "git status", "cat bin/ls", "pwd", "node --version", "ls | cat"]) {
      const { sessionId } = await at.shell(command, { env: { PATH } });
      assert.equal(at.rows("call.claimed", sessionId).length, 1, command);
    }
    assert.deepEqual(at.effects(), []);
  });

  test("settings that name the workspace as a place of programs do not make it one", async (t) => {
    const at = scene(t);
    plant(at, at.path("bin"));
    symlinkSync(at.path("bin"), join(at.root, "way-in"));
    for (const path of [[at.path("bin")], [join(at.root, "way-in")], [`${at.bin}/../workspace/bin`]]) {
      at.user({ shell: { path: [...path, "/usr/bin", "/bin"] }, permissions: { allow: ["Shell(effect *)", "Shell(ls)"] } });
      await at.shell("effect x");
      await at.shell("ls");
    }
    assert.deepEqual(at.effects(), []);
    at.program("tell", `#!/bin/sh\necho "$PATH" >> ${at.world}\n`);
    at.user({ shell: { path: [at.path("bin"), at.bin, "/usr/bin"] }, permissions: { allow: ["Shell(tell)"] } });
    await at.shell("tell");
    assert.deepEqual(at.effects(), [`${at.bin}:/usr/bin`], "nor does what it starts look there");
    at.user({ shell: { path: ["bin", "."] } });
    assert.equal((await at.shell("ls")).code, 2, "a relative one is no setting");
  });

  test("a link that leads from a place of programs into the workspace is passed over", async (t) => {
    const at = scene(t);
    plant(at, at.path("bin"));
    symlinkSync(at.path("bin/ls"), join(at.bin, "ls"));
    at.user(reachable(at));
    assert.equal((await at.shell("ls")).outcome, "succeeded");
    assert.deepEqual(at.effects(), []);
  });

  test("what a name with a slash means is asked about, whatever allows the bare name", async (t) => {
    const at = scene(t);
    plant(at, at.path("bin"));
    at.user(reachable(at, { permissions: { allow: ["Shell", "Shell(ls *)", "Shell(effect *)"] } }));
    for (const command of ["./bin/ls", "bin/effect x", `${at.path("bin/effect")} x`, `${at.bin}/effect x`])
      assert.equal((await at.shell(command)).type, "denied_unattended", command);
    assert.deepEqual(at.effects(), []);
  });
});

/** Names a child must never see, and those that only a yes lets through. */
const NEVER = {
  ...{
    BASH_ENV: "/e",
    ENV: "/e",
    SHELLOPTS: "xtrace",
    BASHOPTS: "x",
    CDPATH: "/",
    PROMPT_COMMAND: "x",
    LD_PRELOAD: "",
    LD_LIBRARY_PATH: "/e",
  },
  ...{ LD_AUDIT: "", DYLD_INSERT_LIBRARIES: "/e", ASSENT_LOG: "/e", ASSENT_ANYTHING: "1", "BASH_FUNC_ls%%": "() { echo evil; }" },
  ...{ OPENAI_API_KEY: "k", GITHUB_TOKEN: "k", CLIENT_SECRET: "k", DB_PASSWORD: "k", MYPASSWORDS: "k", AWS_SECRET_ACCESS_KEY: "k" },
  ...{ anthropic_api_key: "k", MY_PRIVATE_THING: "k" },
};
const USERS = { NODE_OPTIONS: "--no-warnings", PYTHONPATH: "/e", GIT_SSH: "/e", EDITOR: "vi", LESSOPEN: "|x", MY_OWN: "1", RUBYOPT: "" };
const FEW = ["HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TERM", "TMPDIR", "PATH", "MY_OWN"];
const ADDED = ["GIT_OPTIONAL_LOCKS", "GIT_PAGER", "GIT_TERMINAL_PROMPT", "GIT_CONFIG_NOSYSTEM", "NO_COLOR", "ASSENT_MARK"];

describe("what a child sees of this process", () => {
  /** The programs `dump` and, to be allowed by the hint, `ls` write down their environment, and become a look at their descriptors. */
  function dumps(at: Scene): void {
    const script = `#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ > ${at.root}/seen-env\ncat /proc/$$/stat > ${at.root}/seen-stat\nexec /bin/ls -l /proc/self/fd\n`;
    for (const name of ["dump", "ls"]) at.program(name, script);
  }

  function names(at: Scene): readonly string[] {
    return linesOf(join(at.root, "seen-env")).map((line) => line.slice(0, line.indexOf("=")));
  }

  /** What leads anywhere: 0 to 2, and the directory that is looked at. Nothing of the store; no terminal; a group of its own. */
  function isAlone(at: Scene, seen: string): void {
    const open = [...seen.matchAll(/ (\d+) -> (.*)$/gm)].map(([, fd = "", to = ""]) => [Number(fd), to] as const);
    const leading = open.filter(([fd, to]) => fd < 3 || to !== "/dev/null");
    assert.deepEqual(
      leading.map(([fd]) => fd),
      [0, 1, 2, 3],
      seen,
    );
    assert.equal(leading[0]?.[1], "/dev/null");
    assert.ok(leading[3]?.[1].startsWith("/proc/"), seen);
    assert.ok(!seen.includes(at.store) && !/socket|tty|pts/.test(seen), seen);
    const group = (stat: string): string | undefined => readFileSync(stat, "utf8").split(" ")[4];
    assert.notEqual(group(join(at.root, "seen-stat")), group("/proc/self/stat"));
    assert.equal(readFileSync(join(at.root, "seen-stat"), "utf8").split(" ")[6], "0", "no terminal");
  }

  /** Lets `dump` pass from now on. */
  async function granted(at: Scene): Promise<void> {
    const { approvalId, sessionId } = await at.shell("dump", ["--on-ask", "park"]);
    assert.equal((await at.does(["approve", approvalId, "--remember", "user"])).code, 0);
    await at.resume(sessionId);
  }

  const env = { ...NEVER, ...USERS, LANG: "C", LC_ALL: "C", TZ: "UTC", TERM: "xterm", USER: "u", LOGNAME: "u", TMPDIR: "/tmp" };
  const settings: SettingsText = { secretEnv: ["MY_PRIVATE_*"] };

  const SCRUBBED: readonly (readonly [name: string, command: string, permissions: NonNullable<SettingsText["permissions"]>])[] = [
    ["allowed by a rule", "dump", { allow: ["Shell(dump)"] }],
    ["allowed by the hint", "ls", {}],
    ["allowed by a rule in yolo", "dump", { allow: ["Shell(dump)"] }],
    ["answered by a grant", "dump", {}],
  ];
  for (const [name, command, permissions] of SCRUBBED) {
    test(`${name}: a few names and what was added, nothing else`, async (t) => {
      const at = scene(t);
      dumps(at);
      at.user({ ...settings, permissions, shell: { path: [at.bin, "/usr/bin", "/bin"], env: ["MY_OWN", "NOT_THERE"] } });
      const flags = name.endsWith("yolo") ? ["--mode", "yolo"] : [];
      if (name.endsWith("grant")) await granted(at);
      const { outcome, content } = await at.shell(command, { env, flags });
      assert.equal(outcome, "succeeded");
      assert.deepEqual(names(at).toSorted(), [...FEW, ...ADDED].toSorted());
      const seen = linesOf(join(at.root, "seen-env"));
      for (const line of ["TERM=dumb", `PATH=${at.bin}:/usr/bin:/bin`, "GIT_PAGER=cat"]) assert.ok(seen.includes(line), line);
      isAlone(at, content);
    });
  }

  for (const name of [
    "BASH_ENV",
    "LD_PRELOAD",
    "OPENAI_API_KEY",
    "NODE_OPTIONS",
    "PYTHONPATH",
    "GIT_SSH",
    "EDITOR",
    "ASSENT_STORE",
    "PATH",
  ]) {
    test(`settings that would pass ${name} to allowed commands pass it all the same to none`, async (t) => {
      const at = scene(t);
      dumps(at);
      at.user({ permissions: { allow: ["Shell(dump)"] }, shell: { path: [at.bin, "/usr/bin", "/bin"], env: [name] } });
      const { code } = await at.shell("dump", { env: { ...env, PATH: "/evil" } });
      if (code === 2) return assert.ok(!existsSync(join(at.root, "seen-env")));
      assert.ok(name === "PATH" || !names(at).includes(name));
      assert.ok(!linesOf(join(at.root, "seen-env")).includes("PATH=/evil"));
    });
  }

  const TEXTS: readonly (readonly [name: string, run: (at: Scene) => Promise<Told>])[] = [
    [
      "approved by a person",
      async (at) => {
        const { approvalId, sessionId } = await at.shell("dump; true", { env, flags: ["--on-ask", "park"] });
        await at.does(["approve", approvalId]);
        return at.resume(sessionId, { env });
      },
    ],
    ["in yolo", (at) => at.shell("dump; true", { env, flags: ["--mode", "yolo"] })],
    [
      "let through by a hook",
      async (at) => {
        const yes = `cat > /dev/null; echo '{"decision":"approve"}'`;
        at.user({ ...settings, hooks: { PermissionRequest: [{ hooks: [{ type: "command", command: yes }] }] } });
        return at.shell("dump; true", { env });
      },
    ],
  ];
  for (const [name, run] of TEXTS) {
    test(`${name}: the user's environment without secrets and without what redirects a shell`, async (t) => {
      const at = scene(t);
      dumps(at);
      at.user(settings);
      const { outcome, content } = await run(at);
      assert.equal(outcome, "succeeded");
      const seen = names(at);
      for (const hidden of [...Object.keys(NEVER), "ASSENT_STORE"]) assert.ok(!seen.includes(hidden), hidden);
      for (const own of Object.keys(USERS)) assert.ok(seen.includes(own), own);
      isAlone(at, content);
    });
  }

  test("a hook sees the user's environment under the same rule, what it was promised, and no ledger", async (t) => {
    const at = scene(t);
    dumps(at);
    at.user({
      ...settings,
      mode: "yolo",
      hooks: { PreToolUse: [{ hooks: [{ type: "command", command: `dump > ${at.root}/seen-fds`, passEnv: ["GITHUB_TOKEN"] }] }] },
    });
    assert.equal((await at.shell("true", { env })).outcome, "succeeded");
    const seen = names(at);
    const promised = ["ASSENT_PROJECT_DIR", "ASSENT_SESSION_ID", "ASSENT_HOOK_EVENT", "CLAUDE_PROJECT_DIR", "GITHUB_TOKEN"];
    for (const name of promised) assert.ok(seen.includes(name), name);
    for (const name of Object.keys(NEVER).filter((name) => !promised.includes(name))) assert.ok(!seen.includes(name), name);
    assert.ok(!readFileSync(join(at.root, "seen-fds"), "utf8").includes(at.store));
  });
});

describe("a program that is another one when it is to run", () => {
  /** Acts right after the intent is on disk, before anything was started. */
  function afterClaim(act: () => void): (ledger: Ledger) => Ledger {
    return (ledger) => ({
      ...ledger,
      claim: async (...args) => {
        const claimed = await ledger.claim(...args);
        act();
        return claimed;
      },
      append: async (...args) => {
        const appended = await ledger.append(...args);
        if (JSON.stringify(args).includes('"call.claimed"')) act();
        return appended;
      },
    });
  }

  const REPLACED: readonly (readonly [name: string, replace: (file: string, other: string) => void])[] = [
    ["another file in its place", (file, other) => renameSync(other, file)],
    ["rewritten where it lies", (file, other) => copyFileSync(other, file)],
    [
      "a link to another",
      (file, other) => {
        renameSync(file, `${file}.old`);
        symlinkSync(other, file);
      },
    ],
    [
      "rewritten where it lies, with its size and time as they were",
      (file, other) => {
        const { atime, mtime } = statSync(file);
        copyFileSync(other, file);
        utimesSync(file, atime, mtime);
      },
    ],
    ["gone", (file) => renameSync(file, `${file}.old`)],
    ["no longer to be run", (file) => chmodSync(file, 0o644)],
    [
      "another file of the same size and time",
      (file, other) => {
        const { atime, mtime } = statSync(file);
        renameSync(other, file);
        utimesSync(file, atime, mtime);
      },
    ],
  ];
  for (const [name, replace] of REPLACED) {
    for (const [how, command] of [
      ["a rule", "victim"],
      ["the hint", "ls"],
    ] as const) {
      test(`${name}, after ${how} let it pass: operand_changed, nothing runs`, async (t) => {
        const at = scene(t);
        const file = at.program(command, `#!/bin/sh\necho good >> ${at.world}\n`);
        const other = written(join(at.root, "other"), `#!/bin/sh\necho evil >> ${at.world}\n`, 0o755);
        at.user(reachable(at, { permissions: { allow: ["Shell(victim)"] } }));
        let times = 0;
        const replaceOnce = (): void => {
          times += 1;
          if (times === 1) replace(file, other);
        };
        const run = await openRun(at, { ledger: afterClaim(replaceOnce) });
        assert.deepEqual(standings(await run.shells([command])), ["failed operand_changed"]);
        assert.deepEqual([at.effects(), times > 0], [[], true]);
        await run.close();
      });
    }
  }

  test("replaced by an earlier command of the same line: what stands before it ran, it does not", async (t) => {
    const at = scene(t);
    at.program("victim", `#!/bin/sh\necho good >> ${at.world}\n`);
    at.program(
      "swap",
      `#!/bin/sh\necho swap >> ${at.world}\nprintf '#!/bin/sh\\necho evil >> ${at.world}\\n' > ${at.bin}/new\nchmod 755 ${at.bin}/new\nmv ${at.bin}/new ${at.bin}/victim\n`,
    );
    at.user(reachable(at, { permissions: { allow: ["Shell(victim)", "Shell(swap)"] } }));
    for (const command of ["swap && victim", "swap; victim; victim"]) {
      at.program("victim", `#!/bin/sh\necho good >> ${at.world}\n`);
      const told = await at.shell(command);
      assert.deepEqual([told.outcome, told.type], ["failed", "operand_changed"], told.content);
    }
    assert.deepEqual(at.effects(), ["swap", "swap"]);
  });

  test("a directory of the plan that became a link out of the workspace: nothing runs there", async (t) => {
    const at = scene(t);
    mkdirSync(at.path("sub"));
    mkdirSync(join(at.root, "outside"));
    at.user(reachable(at, { permissions: { allow: ["Shell(effect *)", "Shell(cd *)"] } }));
    let swapped = false;
    const swap = (): void => {
      if (!swapped) renameSync(at.path("sub"), at.path("old"));
      if (!swapped) symlinkSync(join(at.root, "outside"), at.path("sub"));
      swapped = true;
    };
    const run = await openRun(at, { ledger: afterClaim(swap) });
    assert.deepEqual(standings(await run.shells(["cd sub && effect x"])), ["failed operand_changed"]);
    assert.deepEqual([at.effects(), swapped], [[], true]);
    await run.close();
  });

  test("replaced before it is judged, the new one is what is judged and runs", async (t) => {
    const at = scene(t);
    at.program("victim", `#!/bin/sh\necho old >> ${at.world}\n`);
    at.user(reachable(at, { permissions: { allow: ["Shell(victim)"] } }));
    await at.shell("victim");
    at.program("victim", `#!/bin/sh\necho new >> ${at.world}\n`);
    await at.shell("victim");
    assert.deepEqual(at.effects(), ["old", "new"]);
  });
});

describe("a hook that cannot be relied on never leads to an effect", () => {
  const json = (output: object): string => `cat > /dev/null; echo '${JSON.stringify(output)}'`;
  const specific = (fields: object): string => json({ hookSpecificOutput: fields });

  const FAILING: readonly (readonly [name: string, hook: object])[] = [
    ["exits with 1", { command: "exit 1" }],
    ["exits with 255", { command: "exit 255" }],
    ["kills itself", { command: "kill -9 $$" }],
    ["ends by SIGSEGV", { command: "kill -SEGV $$" }],
    ["hangs", { command: "sleep 600", timeout: 0.2 }],
    ["hangs with its output closed", { command: "exec >&- 2>&-; sleep 600", timeout: 0.2 }],
    ["allows and then hangs", { command: `${json({ decision: "approve" })}; sleep 600`, timeout: 0.2 }],
    ["allows and then exits with 1", { command: `${json({ decision: "approve" })}; exit 1` }],
    ["prints half of a yes", { command: `printf '{"decision":"appr'` }],
    ["prints a yes twice", { command: `echo '{"decision":"approve"}{"decision":"approve"}'` }],
    ["prints a word that is no verdict", { command: json({ decision: "yes" }) }],
    ["prints a number for a verdict", { command: specific({ permissionDecision: 1 }) }],
    ["prints two megabytes", { command: "head -c 2097152 /dev/zero | tr '\\0' '{'" }],
    ["prints a yes and two megabytes", { command: `echo '{"decision":"approve"'; head -c 2097152 /dev/zero | tr '\\0' ' '; echo '}'` }],
    ["prints two megabytes of complaint", { command: "head -c 2097152 /dev/zero | tr '\\0' x >&2" }],
    ["is missing", { command: "/nowhere/hook" }],
    ["is missing, without a shell", { command: "/nowhere/hook", args: ["a"] }],
    ["is a directory", { command: "/tmp", args: [] }],
    ["is not to be run", { command: "./plain", args: [] }],
    ["answers for another event", { command: specific({ hookEventName: "Stop", permissionDecision: "allow" }) }],
  ];
  for (const [name, hook] of FAILING) {
    test(`one that ${name}: denied in yolo with an allow rule beside it; where it is asked for a permission, nobody is taken to have said yes`, async (t) => {
      const at = scene(t);
      at.write("plain", "exit 0\n");
      const all = [{ hooks: [{ type: "command", ...hook }] }];
      at.user(reachable(at, { mode: "yolo", permissions: { allow: ["*"] }, hooks: { PreToolUse: all } }));
      const told = await at.shell("effect x");
      assert.deepEqual([told.outcome, told.type], ["denied", "denied_by_hook"], told.content);
      at.user(reachable(at, { hooks: { PermissionRequest: all } }));
      const asked = await at.shell("effect x");
      assert.deepEqual([asked.outcome, asked.type], ["denied", "denied_unattended"], asked.content);
      assert.deepEqual([at.effects(), at.rows("call.claimed")], [[], []]);
      assert.equal(at.rows("hook.ran").length, 2, "each run is on record");
    });
  }

  test("the same hook that answers in order lets it pass: it is the failure that stops", async (t) => {
    const at = scene(t);
    at.user(reachable(at, { hooks: { PermissionRequest: [{ hooks: [{ type: "command", command: json({ decision: "approve" }) }] }] } }));
    assert.equal((await at.shell("effect x")).outcome, "succeeded");
    assert.deepEqual(at.effects(), ["x"]);
  });

  const REWRITES: readonly (readonly [name: string, event: string, command: string, type: string])[] = [
    ["into what a rule denies", "PreToolUse", "effect denied", "denied_by_rule"],
    ["into what a rule asks for", "PreToolUse", "effect asked", "denied_unattended"],
    ["into a write of the settings", "PreToolUse", "echo x > .assent/settings.json", "denied_by_guard"],
    ["into nothing", "PreToolUse", "", "denied_by_guard"],
    ["into what a rule denies, when asked for a permission", "PermissionRequest", "effect denied", "denied_by_rule"],
    ["into what a rule asks for, when asked for a permission", "PermissionRequest", "effect asked", "denied_unattended"],
    ["into a write of the settings, when asked for a permission", "PermissionRequest", "echo x > .assent/settings.json", "denied_by_guard"],
  ];
  for (const [name, event, command, type] of REWRITES) {
    test(`a rewrite ${name} is judged as what it is: ${type}`, async (t) => {
      const at = scene(t);
      const output =
        event === "PreToolUse"
          ? { hookEventName: event, permissionDecision: "allow", updatedInput: { command } }
          : { hookEventName: event, decision: { behavior: "allow", updatedInput: { command } } };
      const hooks = { [event]: [{ hooks: [{ type: "command", command: specific(output) }] }] };
      const mode = event === "PreToolUse" ? "yolo" : "default";
      at.user(reachable(at, { mode, hooks, permissions: { deny: ["Shell(effect denied)"], ask: ["Shell(effect asked)"] } }));
      assert.equal((await at.shell("effect harmless")).type, type);
      assert.deepEqual([at.effects(), at.rows("call.claimed")], [[], []]);
      assert.ok(!existsSync(at.path(".assent")));
    });
  }

  test("a deny that is written while a hook thinks holds for the call it thinks about", async (t) => {
    const at = scene(t);
    const file = at.user({});
    const later = written(
      join(at.root, "later.json"),
      JSON.stringify(reachable(at, { mode: "yolo", permissions: { deny: ["Shell(effect)"] } })),
    );
    const hooks = { PreToolUse: [{ hooks: [{ type: "command", command: `cp ${later} ${file}.new && mv ${file}.new ${file}` }] }] };
    at.user(reachable(at, { mode: "yolo", hooks }));
    assert.equal((await at.shell("effect x")).type, "denied_by_rule");
    assert.deepEqual(at.effects(), []);
  });

  const REFUSED: readonly (readonly [name: string, hooks: object])[] = [
    ["an event nobody knows", { PreToolUsed: [] }],
    ["a matcher that is no expression", { PreToolUse: [{ matcher: "Bash(", hooks: [{ type: "command", command: "exit 2" }] }] }],
    ["an unknown type", { PreToolUse: [{ hooks: [{ type: "prompt", command: "exit 2" }] }] }],
    ["a function that this program has not", { PreToolUse: [{ hooks: [{ type: "function", function: "f" }] }] }],
    ["a hook that blocks and is told not to", { PreToolUse: [{ hooks: [{ type: "command", command: "exit 2", onFailure: "warn" }] }] }],
    ["a hook that blocks and is not waited for", { PreToolUse: [{ hooks: [{ type: "command", command: "exit 2", async: true }] }] }],
    ["a timeout of more than an hour", { PreToolUse: [{ hooks: [{ type: "command", command: "exit 2", timeout: 3601 }] }] }],
    ["a field nobody knows", { PreToolUse: [{ hooks: [{ type: "command", comand: "exit 2" }] }] }],
    ["a rule that is none", { PreToolUse: [{ hooks: [{ type: "command", command: "exit 2", if: "Shell(a[" }] }] }],
    ["no command", { PreToolUse: [{ hooks: [{ type: "command" }] }] }],
  ];
  for (const [name, hooks] of REFUSED) {
    test(`a configuration with ${name} stops the start: a guard is never dropped in silence`, async (t) => {
      const at = scene(t);
      at.user({ mode: "yolo", hooks });
      assert.equal((await at.shell(at.leaves("x"))).code, 2);
      assert.deepEqual([at.effects(), at.rows()], [[], []]);
    });
  }

  test("matcher and if find the call in every spelling of the tool and the command, and where it cannot be told", async (t) => {
    const at = scene(t);
    const block = (more: object, matcher?: string): object => ({
      PreToolUse: [{ ...(matcher !== undefined && { matcher }), hooks: [{ type: "command", command: "exit 2", ...more }] }],
    });
    const CASES: readonly (readonly [object, string])[] = [
      [block({}, "Bash"), "effect x"],
      [block({}, "shell"), "effect x"],
      [block({}, "Bash|Write"), "effect x"],
      [block({}, "*"), "effect x"],
      [block({}, ""), "effect x"],
      [block({ if: "Shell(effect)" }), "true && effect x"],
      [block({ if: "Shell(effect)" }), "sh -c 'effect x'"],
      [block({ if: "Bash(effect x)" }), "e'ffec't x"],
      [block({ if: "Shell(effect push)" }), "p=push; effect $p"],
      [block({ if: "Shell(effect push)" }), "effect $(echo push)"],
      [block({ if: "Shell(effect)" }), "X=effect; $X push"],
      [block({ if: "Shell(effect)" }), "'effect push"],
      [block({ if: "Shell(effect)" }), "echo 'effect push' | sh"],
    ];
    for (const [hooks, command] of CASES) {
      at.user(reachable(at, { mode: "yolo", hooks }));
      assert.equal((await at.shell(command)).type, "denied_by_hook", JSON.stringify(hooks));
    }
    assert.deepEqual(at.effects(), []);
  });
});

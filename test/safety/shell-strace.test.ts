import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { findProgram, PROGRAM_PATH } from "../../packages/policy/src/shell/plan/find-program.ts";
import { PROGRAMS } from "../../packages/policy/src/shell/programs/table.ts";
import { withoutProgram } from "../support/programs.ts";
import { CALLER, callMark, type ShellScene, shellScene } from "./shell-scene.ts";

/** Commands that run in other words than they are written in, and the programs that they start. */
const REWRITTEN: Readonly<Record<string, string>> = {
  "find . -name '*.ts' | xargs grep -l TODO": "find find grep realpath tr xargs xargs",
  "find . -name '*.md' -print0 | xargs -0 wc -l": "find find realpath wc xargs xargs",
  "git ls-files | grep -v test | xargs -n 100 cat": "cat find git grep realpath tr xargs xargs",
  "ls src | xargs -I{} echo {}": "echo echo echo ls xargs",
  "find src -type f -exec grep -l run {} +": "find grep",
  "find . -maxdepth 1 -name '*.md' -exec head -1 {} \\;": "find head",
  "wc -l < README.md": "cat wc",
  "egrep -r 'TODO|x' . ; fgrep x README.md": "grep grep",
  "java --version": "java",
  "javac --version": "javac",
};

/** Allowed commands of every table. */
const EVERY: readonly string[] = [
  "ls -la src",
  "ls -R . | head -20",
  "cat README.md src/*.ts",
  "head -n 5 README.md",
  "tail -n 2 logs/app.log",
  "wc -l data/rows.csv",
  "grep -rn TODO src",
  "grep -c ERROR logs/app.log || echo none",
  "find . -type f -name '*.ts'",
  "sort -t, -k2 data/rows.csv | uniq -c | sort -rn",
  "cut -d, -f1 data/rows.csv | tr a-z A-Z",
  "sed -n '1,3p' src/run.ts",
  "awk -F, '{ print $1 }' data/rows.csv",
  "diff -u src/run.ts src/index.ts",
  "nl README.md 2>/dev/null | rev",
  "stat -c %s README.md && du -sh src",
  "sha256sum README.md && test -d src",
  "basename src/run.ts .ts; dirname src/run.ts; seq 1 3",
  "pwd; whoami; id -u; uname -s; date +%Y",
  "printf '%s\\n' a b >/dev/null; echo \"a b\" 'c  d' 2>&1",
  "cd src && ls && cat cli/main.ts",
  "git status --short --branch",
  "git log --stat -p -2",
  "git diff HEAD -- src/index.ts",
  "git show --format=%h%n%s HEAD",
  "git blame -L 1,2 src/run.ts",
  "git ls-files -m --others --exclude-standard",
  "git branch -vv && git tag --list && git remote -v && git stash list",
  "git rev-parse --show-toplevel; git describe --tags; git shortlog -sn HEAD",
  "git --no-pager grep -n TODO",
  "git stash show; git reflog show; git rev-list -2 HEAD; git ls-tree HEAD; git cat-file -p HEAD",
  "git merge-base HEAD HEAD; git worktree list; git config --get remote.origin.url",
  "tac README.md; fold -w 20 README.md; comm README.md notes.txt; paste README.md notes.txt; cmp README.md notes.txt",
  "true; false",
  "df -h .; realpath src; readlink in; which git",
  "md5sum README.md; sha1sum README.md; sha224sum README.md; sha384sum README.md; sha512sum README.md",
  "column -t data/rows.csv",
  "file README.md",
  "tree src",
  "rg TODO src",
  "jq .name package.json",
  "npm ls",
  "npm ls --depth=0; npm list react; npm explain react; npm root; npm prefix; npm run",
  "npm -v",
  "ls *.md && cat *.json && grep TODO --include=*.md README.md",
  'echo $HOME "$PWD" && [ -f README.md ] && [ ! -d missing ]',
  "command -v git; type ls",
  "jobs",
  "history",
  "sed 's/a/b/' README.md; sed -e '1i x' -e 'y/a/b/' README.md",
  "awk -F, '$2 > 1 || /b/ {print $1}' data/rows.csv",
  "git -C src status",
  "git diff HEAD^ --stat; git for-each-ref; git show-ref; git check-ignore -v src; git check-attr -a README.md",
  "git count-objects -v; git name-rev HEAD; git cherry HEAD; git symbolic-ref HEAD; git version; git config core.bare",
  "ps aux | head -3; ps -ef; ps -eo pid,cmd; pgrep -l node",
  "nproc; uptime; free -h; hostname; arch; tty; logname; users; groups; lscpu; lsblk",
  "cal; clear; expr 1 + 2; sleep 0.1",
  "xxd README.md; xxd -ps -l 8 README.md; od -c README.md; hexdump -C README.md; strings README.md",
  "base64 README.md; base32 README.md; cksum README.md; expand README.md; unexpand README.md; join README.md README.md",
  "less README.md; more README.md",
  "diff -r src test",
  ...Object.keys(REWRITTEN),
  ...["curl", "docker", "gh", "ninja", "tar", "wget"].map((name) => `${name} --version`),
  "ssh -V; openssl version; tmux -V",
  ...["bash", "clang", "cmake", "deno", "g++", "gcc", "make", "node", "perl", "php", "python", "python3", "ruby", "tsc"].map(
    (name) => `${name} --version`,
  ),
  ...["emacs", "nvim", "redis-cli", "ruff", "vim"].map((name) => `${name} --version`),
];

/** Words of the shell itself, which need no program of their name. */
const BUILT_IN: readonly string[] = ["cd", "command", "history", "jobs", "type"];

const COMMANDS = EVERY.filter((command) => notInstalled(command).length === 0);

function programNames(command: string): readonly string[] {
  const unquoted = command.replace(/'[^']*'/g, "''");
  return unquoted.split(/ ?(?:;|&&|\|\||\|) /).map((one) => one.split(" ")[0] ?? "");
}

/** Programs of a command that this machine does not have where allowed commands look for them. */
function notInstalled(command: string): readonly string[] {
  const names = programNames(command);
  const places = { path: PROGRAM_PATH, workspace: "/nonexistent" };
  return names.filter((name) => !BUILT_IN.includes(name) && findProgram(name, places) === undefined);
}

/** Programs that a hostile workspace would like to see run. */
const CANARY = '#!/bin/sh\necho ran >> "$(dirname "$0")/canary-ran"\n';

const WATCHED = [
  ...["execve", "execveat", "open", "openat", "openat2", "creat", "connect", "bind", "sendto", "clone", "clone3", "fork", "vfork"],
  ...["unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "symlink", "symlinkat", "link", "linkat"],
  ...["mknod", "mknodat", "truncate", "ftruncate", "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat", "utimensat", "setxattr"],
];

/** A call of the system that succeeded or was refused, by the process that made it; threads are part of theirs. */
type Call = { readonly process: number; readonly name: string; readonly text: string; readonly succeeded: boolean };

let scene: ShellScene;
/** What was traced for each command, and what came before the first. */
let traced: ReadonlyMap<number, readonly Call[]>;
let root: number;
let outcomes: readonly { readonly outcome: string; readonly content: string }[];

const noStrace = withoutProgram("strace");

/** Variables that make programs read a file of the workspace or run a program of it. */
const HOSTILE_ENVIRONMENT = {
  GIT_PAGER: "./canary",
  GIT_EXTERNAL_DIFF: "./canary",
  GIT_CONFIG_GLOBAL: "./hostile.gitconfig",
  BASH_ENV: "./canary",
  RIPGREP_CONFIG_PATH: "./.ripgreprc",
  PYTHONSTARTUP: "./canary.py",
  PERL5OPT: "-Mcanary",
  RUBYOPT: "-r./canary.rb",
  JQ_LIBRARY_PATH: ".",
  AWKPATH: ".",
  MAGIC: "./magic",
  LESSOPEN: "|./canary %s",
  npm_config_cache: "./npm-cache",
  npm_config_timing: "true",
};

const OLD_LOG = "2020-01-01T00_00_00_000Z-debug-0.log";

/** npm would write outside the workspace, ask a server, and look at the packages of the whole system. */
const NPM_SETTINGS = `cache=OUT/cache
logs-dir=OUT/logs
logs-max=1
timing=true
update-notifier=true
registry=http://127.0.0.1:9/
global=true
node-options=--require=./canary.cjs
script-shell=./canary
`;

before(() => {
  if (noStrace) return;
  scene = shellScene();
  makeHostile(scene);
  const file = join(scene.root, "trace");
  const strace = [
    "-f",
    "--seccomp-bpf",
    "-qq",
    "-v",
    "-s",
    "65536",
    "-o",
    file,
    "-e",
    `trace=${WATCHED.map((name) => `?${name}`).join(",")}`,
  ];
  const policy = scene.policy({});
  const { status, stdout, stderr } = spawnSync("strace", [...strace, process.execPath, ...CALLER, policy, ...COMMANDS], {
    cwd: scene.workspace,
    env: {
      ...scene.env,
      PATH: `.:${scene.workspace}:${scene.env["PATH"]}`,
      ...HOSTILE_ENVIRONMENT,
    },
    encoding: "utf8",
    timeout: 120_000,
  });
  assert.equal(status, 0, stderr);
  outcomes = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const calls = readTrace(readFileSync(file, "utf8"));
  root = calls[0]?.process ?? 0;
  traced = byCommand(calls);
});
after(() => scene?.[Symbol.dispose]());

/** A repository whose settings, attributes and files name programs wherever git or a shell might look for one. */
function makeHostile({ root, workspace, env }: ShellScene): void {
  const canary = join(workspace, "canary");
  for (const name of ["canary", "git", "ls", "cat", "grep", "mkfifo", "sh"]) {
    writeFileSync(join(workspace, name), CANARY);
    chmodSync(join(workspace, name), 0o755);
  }
  writeFileSync(join(workspace, ".npmrc"), NPM_SETTINGS.replaceAll("OUT", join(root, "outside")));
  writeFileSync(join(workspace, ".ripgreprc"), "--pre=./canary\n");
  writeFileSync(join(workspace, "canary.cjs"), `require("node:fs").writeFileSync(${JSON.stringify(join(workspace, "canary-ran"))}, "");\n`);
  writeFileSync(join(workspace, "hostile.gitconfig"), `[core]\n\tfsmonitor = ${canary}\n`);
  mkdirSync(join(env["HOME"] ?? "", ".npm/_logs"), { recursive: true });
  writeFileSync(join(env["HOME"] ?? "", ".npm/_logs", OLD_LOG), "what npm did before\n");
  writeFileSync(join(workspace, ".gitattributes"), "*.ts diff=x filter=x\n*.md diff=x merge=x\n");
  for (const name of ["pre-commit", "post-index-change", "reference-transaction"]) {
    writeFileSync(join(workspace, ".git/hooks", name), CANARY);
    chmodSync(join(workspace, ".git/hooks", name), 0o755);
  }
  const settings = {
    "core.fsmonitor": canary,
    "core.pager": canary,
    "core.editor": canary,
    "core.sshCommand": canary,
    "core.askPass": canary,
    "pager.log": canary,
    "diff.external": canary,
    "diff.x.textconv": canary,
    "diff.x.command": canary,
    "filter.x.clean": canary,
    "filter.x.smudge": canary,
    "filter.x.process": canary,
    "merge.x.driver": canary,
    "log.showSignature": "true",
    "gpg.program": canary,
    "format.pretty": "%h %G? %s",
    "alias.status": `!${canary}`,
    "credential.helper": `!${canary}`,
    "remote.origin.url": "https://example.test/a.git",
  };
  for (const [key, value] of Object.entries(settings)) {
    const { status, stderr } = spawnSync("/usr/bin/env", ["git", "config", "--local", key, value], {
      cwd: workspace,
      env: { ...env },
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
  }
}

/** The calls of a trace; a thread's calls are its process's. */
function readTrace(text: string): readonly Call[] {
  const owner = new Map<number, number>();
  return wholeLines(text).flatMap(({ pid, line }) => {
    const [, name = "", result = ""] = /^(\w+)\(.* = (-?\d+|\?)(?: .*)?$/s.exec(line) ?? [];
    if (name === "") return [];
    const process = owner.get(pid) ?? pid;
    if (isThread(name, line)) owner.set(Number(result), process);
    return [{ process, name, text: line, succeeded: /^\d/.test(result) }];
  });
}

/** Lines by whose process they are; a call that another thread interrupted is put together again. */
function wholeLines(text: string): readonly { readonly pid: number; readonly line: string }[] {
  const begun = new Map<number, string>();
  return text.split("\n").flatMap((traced) => {
    const [, id = "", rest = ""] = /^(\d+) +(.*)$/s.exec(traced) ?? [];
    const pid = Number(id);
    const [, half] = /^(.*) <unfinished \.\.\.>$/s.exec(rest) ?? [];
    const [, other] = /^<\.\.\. \w+ resumed>(.*)$/s.exec(rest) ?? [];
    if (half !== undefined) begun.set(pid, half);
    if (half !== undefined) return [];
    return [{ pid, line: other === undefined ? rest : `${begun.get(pid) ?? ""}${other}` }];
  });
}

function isThread(name: string, text: string): boolean {
  return (name === "clone" || name === "clone3") && text.includes("CLONE_THREAD");
}

function byCommand(calls: readonly Call[]): ReadonlyMap<number, readonly Call[]> {
  const found = new Map<number, Call[]>();
  let index = -1;
  for (const call of calls) {
    if (call.process === root && call.text.includes(`"${callMark(index + 1)}"`)) index++;
    const known = found.get(index);
    if (known) known.push(call);
    else found.set(index, [call]);
  }
  return found;
}

/** Programs that were started, with all their words. */
function started(calls: readonly Call[]): readonly (readonly [file: string, ...argv: string[]])[] {
  return calls
    .filter(({ name, succeeded }) => (name === "execve" || name === "execveat") && succeeded)
    .map(({ text }) => {
      const [, file = "", list = ""] = /^execve\("((?:[^"\\]|\\.)*)", (\[(?:"(?:[^"\\]|\\.)*"(?:, )?)*\])/.exec(text) ?? [];
      return [file, ...[...list.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ""]) => unescaped(word))];
    });
}

/** strace writes strings as C does. */
function unescaped(text: string): string {
  return text.replace(/\\(n|t|"|\\)/g, (_, letter: string) => ({ n: "\n", t: "\t" })[letter] ?? letter);
}

/** Everything Assent starts by itself for a command: a program that makes pipes. */
function isOwn([file = "", , ...args]: readonly string[]): boolean {
  const [option, mode, ...places] = args;
  const pipes = places.length > 0 && places.every((path) => path.startsWith(`${tmpdir()}/assent-`));
  return file.endsWith("/mkfifo") && option === "-m" && mode === "600" && pipes;
}

/** npm is a script for Node. */
function isInterpreter([file = "", name, script = ""]: readonly string[]): boolean {
  return file.endsWith("/node") && name === "node" && script.endsWith("/npm");
}

/** A look at the repository before a git command runs: by the program's whole path, as no plan has it. */
function isQuery([file, name, ...args]: readonly string[]): boolean {
  return file === name && file?.endsWith("/git") === true && QUERIES.some((words) => args.join(" ").endsWith(words));
}

const QUERIES = ["--no-pager config --list -z --show-scope --show-origin", "--no-pager ls-files --stage -z -- :/"];

/** Sub-commands of git that change something: rules allow them, the hint does not. */
const CHANGING = ["add", "fetch"];

const OPENS = new Set(["open", "openat", "openat2"]);
const STARTS = new Set(["execve", "execveat", "clone", "clone3", "fork", "vfork"]);

/** Calls that open a file for writing, make, remove or change one, or reach for the network. */
function changes(calls: readonly Call[]): readonly string[] {
  const pipeMakers = new Set(calls.filter((call) => started([call]).some(isOwn)).map(({ process }) => process));
  return calls
    .filter(({ name, text }) => !STARTS.has(name) && (!OPENS.has(name) || /O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND)/.test(text)))
    .filter((call) => !(isHarmless(call) || (call.process === root ? isOnStore(call) : pipeMakers.has(call.process) && isPipe(call))))
    .map(({ text }) => text);
}

function pathIn({ text }: Call): string {
  return /(?<=")(?:[^"\\]|\\.)*(?=")/.exec(text)?.[0] ?? "";
}

/** The null device, a terminal that is not there, a setting of the process itself, the kernel's list of network interfaces, and the daemons that are asked for users' names. */
function isHarmless(call: Call): boolean {
  const path = pathIn(call);
  if (call.name === "connect")
    return call.text.includes("sa_family=AF_UNIX") && /^\/(?:var\/)?run\/(?:nscd\/|systemd\/userdb\/)/.test(path);
  return ["/dev/null", "/dev/tty", "/proc/self/coredump_filter"].includes(path) || call.text.includes("sa_family=AF_NETLINK");
}

/** What the process that keeps the store may do: change its files, by name or descriptor, and open and remove pipes. */
function isOnStore(call: Call): boolean {
  if (/^(?:ftruncate|fchmod|fchown)$/.test(call.name)) return true;
  const path = pathIn(call);
  return path === scene.store || path.startsWith(`${scene.store}/`) || path.startsWith(`${tmpdir()}/assent-`);
}

function isPipe(call: Call): boolean {
  return /^(?:mknod|mknodat|chmod|fchmodat)$/.test(call.name) && /^\/proc\/self\/fd\/|\/assent-[^/]*$/.test(pathIn(call));
}

suite("an allowed command does what its plan says and nothing else", { skip: noStrace }, () => {
  test("every command was allowed and ran, and the trace tells them apart", () => {
    assert.equal(outcomes.length, COMMANDS.length);
    assert.equal(traced.size, COMMANDS.length + 1);
    const denied = outcomes.filter(({ outcome }) => outcome !== "succeeded" && outcome !== "failed");
    assert.deepEqual(denied, []);
    const judged = scene.events().filter(({ type }) => type === "call.judged");
    assert.deepEqual(
      judged.map(({ body }) => [body.verdict, body.safe]),
      COMMANDS.map(() => ["allow", true]),
    );
  });

  for (const [index, command] of COMMANDS.entries())
    test(`${command}: the programs of the plan run, each once, with its words`, () => {
      const programs = started(traced.get(index) ?? []).filter((program) => !(isOwn(program) || isInterpreter(program)));
      const planned = plannedWords(command);
      const isGit = ([name]: readonly string[]): boolean => name === "git";
      assert.ok(programs.filter(isQuery).length >= planned.filter(isGit).length);
      const ran = programs.filter((program) => !isQuery(program));
      const other = REWRITTEN[command];
      if (other !== undefined)
        return assert.equal(
          ran
            .map(([file]) => basename(file))
            .toSorted()
            .join(" "),
          other,
        );
      // The programs of a pipeline start at once: which is seen first is the system's choice.
      const seen = <T>(programs: readonly T[]): readonly T[] =>
        command.includes(" | ") ? programs.toSorted((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1)) : programs;
      assert.deepEqual(
        seen(ran.map(([file, ...argv]) => [file.startsWith("/usr/") || file === process.execPath, ...withoutHardening(argv)])),
        seen(due(planned, ran.length).map((argv) => [true, ...argv])),
      );
    });

  for (const [index, command] of COMMANDS.entries())
    test(`${command}: nothing is written, changed or connected to`, () => {
      const calls = traced.get(index) ?? [];
      assert.ok(calls.length > 0);
      assert.deepEqual(changes(calls), []);
    });

  test("every modelled program is among the commands", () => {
    const names = EVERY.flatMap(programNames);
    assert.deepEqual(
      [...PROGRAMS].flatMap(([name, { reads, version }]) =>
        (reads || version) && !names.includes(name) && name !== "kubectl" ? [name] : [],
      ),
      [],
    );
    const words = EVERY.join(" ; ");
    assert.deepEqual(
      Object.entries(PROGRAMS.get("git")?.subcommands ?? {}).flatMap(([name, { reads }]) =>
        reads && !CHANGING.includes(name) && !words.includes(` ${name}`) ? [name] : [],
      ),
      [],
    );
  });

  for (const command of EVERY.filter((one) => !COMMANDS.includes(one))) {
    if (command.endsWith(" --version")) continue; // compilers and interpreters that no test needs
    const missing = notInstalled(command).join(", ");
    test(command, { skip: `${missing} is not installed in ${PROGRAM_PATH.join(":")}` }, () => undefined);
  }

  test("npm's logs of earlier runs are still there, and nothing was written outside", () => {
    assert.deepEqual(readdirSync(join(scene.env["HOME"] ?? "", ".npm/_logs")), [OLD_LOG]);
    assert.deepEqual(readdirSync(join(scene.root, "outside")), ["secret"]);
  });

  test("no program of the workspace ran, by whatever name or setting", () => {
    assert.ok(!existsSync(join(scene.workspace, "canary-ran")));
    const all = [...traced.values()].flatMap(started).filter(([file]) => file.startsWith(scene.root) || file.startsWith("."));
    assert.deepEqual(all, []);
  });
});

/** The plan's words, `cd` left out: it starts nothing. */
function plannedWords(command: string): readonly (readonly string[])[] {
  const { plan } = scene.judge({})(command);
  return (plan?.commands ?? []).map(({ argv }) => withPrograms(argv.map(({ text }) => text))).filter(([name]) => name !== "cd");
}

/** The program that runs instead of a word of the shell. */
function withPrograms([name = "", ...args]: readonly string[]): readonly string[] {
  if (name === "command" || name === "type") return ["which", ...args.filter((word) => word !== "-v")];
  return name === "jobs" || name === "history" ? ["true"] : [name, ...args];
}

/** What stands behind `||` does not run when the command before it succeeds. */
function due(planned: readonly (readonly string[])[], ran: number): readonly (readonly string[])[] {
  return planned.length - ran === 1 ? planned.slice(0, -1) : planned;
}

/** A git command without what was put into it to keep it from running programs; other commands as they are. */
function withoutHardening([name = "", ...args]: readonly string[]): readonly string[] {
  if (name === "npm") return [name, ...args.filter((word) => !QUIET_NPM.includes(word))];
  if (SKIPPING.includes(name)) return [name, ...args.filter((word) => !/^--(?:exclude(?:-dir)?=.*\[|include=\.env\.|iglob=!)/.test(word))];
  if (name !== "git") return [name, ...args];
  const own: string[] = [];
  for (let i = 0; i < args.length; i++) {
    if (args[i] === "-c") i++;
    else own.push(args[i] ?? "");
  }
  const [first, ...rest] = own;
  assert.equal(first, "--no-pager");
  return [name, ...rest.filter((word) => !ADDED.includes(word))];
}

/** Searches that are kept from files with secrets. */
const SKIPPING = ["grep", "rg", "diff"];

const QUIET_NPM = [
  "--cache=/dev/null",
  "--logs-dir=/dev/null",
  "--logs-max=0",
  "--no-timing",
  "--no-update-notifier",
  "--offline",
  "--no-global",
];

const ADDED = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];

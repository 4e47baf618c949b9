import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Explanation } from "@assent/policy";
import { type PolicyText, type ShellScene, shellScene } from "./shell-scene.ts";

const BIN = fileURLToPath(new URL("../../packages/cli/bin/assent.js", import.meta.url));

/** How coding agents look around, by program: also ways that no reader of plain lines takes, as often as they come. */
const LOOKING_AROUND: Readonly<Record<string, readonly string[]>> = {
  ls: [
    "ls",
    "ls -la",
    "ls -l src",
    "ls -lah",
    "ls -1",
    "ls -R src",
    "ls -lt",
    "ls -ltr logs",
    "ls src test docs",
    "ls -d src/*",
    "ls -la src/*.ts",
    "ls -la src/cli",
    "ls -la 2>/dev/null",
    "ls node_modules 2>/dev/null",
    "ls -la . | head -50",
    "ls src | wc -l",
    "ls -1 src | grep test",
    "ls package.json tsconfig.json",
    "ls --color=never",
    "ls -laS data",
    "ls -l --time-style=long-iso",
    "ls src && ls test",
    "ls -la; pwd",
    "ls -p | grep -v /",
    "ls -la && git status --short",
    "ls src && cat src/index.ts",
    "ls *.md",
    "ls -la 2>&1 | head",
    "ls -la\npwd",
  ],
  "cd, pwd": [
    "pwd",
    "pwd && ls -la",
    "pwd -P",
    "cd src && ls",
    "cd src && git log --oneline -3",
    "cd src && cat run.ts",
    "cd src/cli && ls -la && cat main.ts",
    "cd src; ls",
  ],
  cat: [
    "cat README.md",
    "cat package.json",
    "cat src/run.ts",
    "cat -n src/run.ts",
    "cat tsconfig.json package.json",
    "cat src/*.ts",
    "cat package.json | jq .scripts",
    "cat package.json | head -20",
    "cat .gitignore",
    "cat logs/app.log | grep ERROR",
    "cat logs/app.log | tail -n 20",
    "cat ./src/run.ts",
    "cat Makefile 2>/dev/null || echo none",
    "cat docs/guide.md README.md",
    "cat .nvmrc",
    "cat -A src/run.ts",
    "cat data/rows.csv | cut -d, -f1 | sort | uniq",
    "cat src/run.ts | sed -n '2,4p'",
    "cat src/run.ts | grep -n join | head -5",
    "cat src/{run,index}.ts",
    "cat package.json 2>/dev/null || true",
    "cat README.md | wc -w",
  ],
  "head, tail, wc": [
    "head README.md",
    "head -20 src/run.ts",
    "head -n 40 package.json",
    "head -c 200 README.md",
    "head -5 src/*.ts",
    "head -n 1 data/rows.csv",
    "tail logs/app.log",
    "tail -20 logs/app.log",
    "tail -n 100 logs/app.log",
    "tail -n +10 src/run.ts",
    "tail -c 500 logs/app.log",
    "head -n 60 src/run.ts | tail -n 20",
    "wc -l src/run.ts",
    "wc -l src/*.ts",
    "wc -c package.json",
    "wc -lw README.md",
    "wc README.md docs/guide.md",
    "wc -l $(git ls-files)",
  ],
  grep: [
    "grep -rn TODO src",
    'grep -rn "TODO" .',
    "grep -n import src/run.ts",
    'grep -rn "export function" src',
    "grep -ri error logs",
    "grep -rl join src",
    "grep -rn --include='*.ts' run src",
    'grep -rn --include="*.ts" --exclude-dir=node_modules "import" .',
    "grep -c ERROR logs/app.log",
    "grep -v INFO logs/app.log",
    'grep -E "ERROR|WARN" logs/app.log',
    "grep -A 3 ERROR logs/app.log",
    "grep -B 2 -A 2 ERROR logs/app.log",
    "grep -C5 run src/run.ts",
    "grep -w run src/run.ts",
    "grep -q TODO README.md",
    "grep -q TODO README.md && echo yes",
    'grep -o \'version": "[^"]*\' package.json',
    "grep -rnw src -e run",
    "grep -nE '^(export|import)' src/index.ts",
    'grep -rhoE "from \\"[^\\"]+\\"" src',
    "grep -F 'join(\"a\"' src/run.ts",
    "grep -m 1 name package.json",
    "grep -rn 'class ' src | head -20",
    "grep -rn TODO src test docs | wc -l",
    "grep -L export src/run.ts src/index.ts",
    "grep -P '\\bTODO\\b' src/run.ts",
    "grep -rIn secret src",
    'grep -n "" src/index.ts',
    "grep -e run -e main src/run.ts",
    "grep -i todo README.md docs/guide.md",
    "grep -rn '\"version\"' package.json",
    "grep -rn TODO --include='*.ts' . | head -20",
  ],
  rg: [
    "rg TODO",
    "rg -n TODO src",
    'rg "export function" src',
    "rg -l join",
    "rg -i error logs",
    "rg --files",
    "rg --files src",
    "rg --files -g '*.ts'",
    "rg -n \"import\" -g '*.ts'",
    "rg -t ts run",
    "rg -c TODO",
    "rg -A 3 ERROR logs/app.log",
    "rg -C 2 run src",
    "rg -w run src",
    "rg -F 'join(\"a\"' src",
    "rg --hidden -n TODO",
    "rg -o 'v[0-9]+' README.md",
    "rg -tjs -n require",
    "rg -n 'TODO|FIXME' src test",
    "rg --no-heading -n run src",
    "rg --json run src",
    "rg -U 'run\\(' src",
    "rg --stats TODO",
    "rg -v INFO logs/app.log",
    "rg --type-list",
    "rg -g '!test' run",
    "rg -e run -e main src",
    "rg -m 5 import src",
    "rg --sort path TODO",
  ],
  find: [
    "find . -name '*.ts'",
    "find . -type f",
    'find src -type f -name "*.ts"',
    "find . -maxdepth 2 -type d",
    "find . -name package.json -not -path './node_modules/*'",
    "find . -type f -name '*.md' | sort",
    "find . -iname 'readme*'",
    "find . -name node_modules -prune -o -name '*.ts' -print",
    "find . -path ./node_modules -prune -o -type f -print",
    "find src test -name '*.ts' | wc -l",
    "find . -mtime -1",
    "find . -newer package.json",
    "find . -size +100k",
    "find . -empty",
    "find . -type f -mmin -60",
    "find . -name '*.test.ts' -o -name '*.spec.ts'",
    "find . \\( -name '*.ts' -o -name '*.js' \\) -type f",
    "find . -maxdepth 1 -type f",
    "find . -type l",
    "find . -regex '.*\\.ts'",
    "find . -name '*.ts' ! -name '*.test.ts'",
    "find . -type f -printf '%s %p\\n' | sort -n | tail -5",
    "find src -maxdepth 3 -print | head -100",
    "find . -type d -name dist",
    "find . -perm -u+x -type f",
    'find . -type f -name "*.json" -maxdepth 2',
    "find . -name '*.log' -print0",
    "find . -name '*.ts' | xargs wc -l",
    "find . -name '*.ts' | head -50",
  ],
  "git status": [
    "git status",
    "git status -s",
    "git status --short",
    "git status --porcelain",
    "git status -sb",
    "git status --short --branch",
    "git --no-pager status",
    "git status && git diff",
    "git status --short && git log --oneline -5",
    "git -C . status",
    "git status # what changed",
  ],
  "git log": [
    "git log",
    "git log --oneline",
    "git log --oneline -10",
    "git log -5",
    "git log -n 3",
    "git log --oneline --graph --all",
    "git log --oneline --graph --decorate -20",
    "git log --stat -1",
    "git log -p -1",
    "git log -1 --format=%H",
    "git log --format='%h %an %s' -10",
    "git log --pretty=format:'%h - %s (%cr)' -5",
    "git log --since='2 weeks ago' --oneline",
    "git log --author=Somebody --oneline",
    "git log --grep=First",
    "git log -- src/run.ts",
    "git log --oneline -- src",
    "git log --follow -p src/run.ts",
    "git log main..HEAD --oneline",
    "git log v1..HEAD",
    "git log -S run --oneline",
    "git log --name-only -3",
    "git log --oneline | head -5",
    "git log --oneline | wc -l",
    "git --no-pager log -3",
    "git log -1 --pretty=%B",
    "git log --no-merges --oneline -5",
    "git log --all --oneline -- docs/guide.md",
    "git log HEAD^..HEAD",
    "git log --oneline -20 && echo --- && git status --short",
    "git log --oneline --all -- '*.md'",
  ],
  "git diff": [
    "git diff",
    "git diff --stat",
    "git diff --cached",
    "git diff --staged --stat",
    "git diff HEAD",
    "git diff HEAD~1",
    "git diff HEAD~1 HEAD",
    "git diff main...HEAD",
    "git diff --name-only",
    "git diff --name-status HEAD~1",
    "git diff src/index.ts",
    "git diff -- src/index.ts",
    "git diff HEAD -- src",
    "git diff -U10 src/index.ts",
    "git diff --word-diff",
    "git diff -w",
    "git diff --check",
    "git diff --no-color",
    "git --no-pager diff",
    "git diff v1 --stat",
    "git diff --numstat",
    "git diff --shortstat",
    "git diff | head -100",
    "git diff --diff-filter=M --name-only",
    "git diff HEAD^",
    "git diff --stat HEAD~1 2>&1 | tail -5",
  ],
  "git show": [
    "git show",
    "git show HEAD",
    "git show --stat",
    "git show HEAD --stat",
    "git show HEAD:README.md",
    "git show HEAD~1:src/run.ts",
    "git show --name-only HEAD",
    "git show v1",
    "git show --no-patch HEAD",
    "git show -s --format=%ci HEAD",
    "git show HEAD --oneline",
    "git show HEAD^",
  ],
  "git, the rest": [
    "git branch",
    "git branch -a",
    "git branch -v",
    "git branch -vv",
    "git branch --show-current",
    "git branch --list",
    "git branch -r",
    "git branch --contains HEAD",
    "git branch --merged",
    "git branch --list 'feature/*'",
    "git tag",
    "git tag -l",
    "git tag --list 'v*'",
    "git tag --sort=-creatordate",
    "git remote",
    "git remote -v",
    "git remote get-url origin",
    "git rev-parse HEAD",
    "git rev-parse --short HEAD",
    "git rev-parse --show-toplevel",
    "git rev-parse --abbrev-ref HEAD",
    "git rev-parse --is-inside-work-tree",
    "git rev-list --count HEAD",
    "git ls-files",
    "git ls-files src",
    "git ls-files '*.ts'",
    "git ls-files --others --exclude-standard",
    "git ls-files -m",
    "git ls-files | wc -l",
    "git ls-files | grep -E '\\.ts$'",
    "git ls-tree -r HEAD --name-only",
    "git ls-tree HEAD",
    "git blame src/run.ts",
    "git blame -L 1,5 src/run.ts",
    "git describe --tags",
    "git describe --tags --always",
    "git stash list",
    "git stash show -p",
    "git shortlog -sn HEAD",
    "git shortlog -sne --all",
    "git reflog",
    "git reflog -10",
    "git reflog show main",
    "git merge-base main HEAD",
    "git cat-file -t HEAD",
    "git cat-file -p HEAD",
    "git config --get user.name",
    "git config --get remote.origin.url",
    "git worktree list",
    "git --version",
    "git grep -n TODO",
    "git grep run -- src",
    "git branch --show-current && git status -s",
  ],
  sed: [
    "sed -n '1,40p' src/run.ts",
    "sed -n 1,20p README.md",
    "sed -n '10,$p' src/run.ts",
    "sed -n '/export/p' src/run.ts",
    "sed -n '/start/,/end/p' logs/app.log",
    "sed -n 5p package.json",
    "sed -n '$p' logs/app.log",
    "sed -n '1,5p;10,15p' src/run.ts",
    'sed -n \'s/.*"version": "\\(.*\\)".*/\\1/p\' package.json',
    "sed -n -e 1,3p -e 5p README.md",
    "sed -nE '/(TODO|FIXME)/p' src/run.ts",
  ],
  awk: [
    "awk '{print $1}' logs/app.log",
    "awk -F, '{print $2}' data/rows.csv",
    "awk 'NR==2' data/rows.csv",
    "awk -F, 'NR>1 {s+=$2} END {print s}' data/rows.csv",
    "awk '/ERROR/ {print $2}' logs/app.log",
    "awk 'NR>=10 && NR<=20' src/run.ts",
    "awk '{c[$1]++} END {for (k in c) print k, c[k]}' logs/app.log",
    "awk 'length($0) < 80' src/run.ts",
    "awk 'END {print NR}' src/run.ts",
  ],
  jq: [
    "jq . package.json",
    "jq '.scripts' package.json",
    "jq -r .version package.json",
    "jq -r '.scripts | keys[]' package.json",
    "jq '.dependencies | length' package.json",
    "jq -c . tsconfig.json",
    "jq -r '.scripts | to_entries[] | \"\\(.key): \\(.value)\"' package.json",
    "jq '.name, .version' package.json",
    "jq -e '.private' package.json",
    "jq 'keys' package.json",
  ],
  "other text": [
    "sort data/rows.csv",
    "sort -u data/rows.csv",
    "sort -t, -k2 -n data/rows.csv",
    "sort -rn data/rows.csv | head",
    "sort data/rows.csv | uniq -c | sort -rn",
    "cut -d, -f1 data/rows.csv",
    "cut -c1-20 README.md",
    "uniq data/rows.csv",
    "tr a-z A-Z",
    "nl src/run.ts",
    "tac logs/app.log",
    "rev README.md",
    "fold -w 80 README.md",
    "paste data/rows.csv logs/app.log",
    "comm data/rows.csv logs/app.log",
    "column -t -s, data/rows.csv",
    "diff src/run.ts src/index.ts",
    "diff -u src/run.ts src/index.ts",
    "diff -q src/run.ts src/index.ts",
    "cmp src/run.ts src/index.ts",
  ],
  "the rest": [
    "echo hello | tr a-z A-Z",
    "which node",
    "which python3",
    "which -a git",
    "whoami",
    "id",
    "uname -a",
    "uname -m",
    "date",
    "date +%Y-%m-%d",
    "date -u",
    "date -Iseconds",
    "echo hello",
    'echo "done"',
    "echo 'a b c'",
    "printf '%s\\n' hello",
    "true",
    "seq 1 5",
    "test -f package.json",
    "test -d src && echo yes",
    "command -v node",
    "env",
    "ps aux",
  ],
  files: [
    "stat package.json",
    "stat -c '%s %n' src/run.ts",
    "file README.md",
    "file src/run.ts package.json",
    "du -sh .",
    "du -sh src",
    "du -h --max-depth=1",
    "du -sh src test | sort -h",
    "df -h",
    "df -h .",
    "tree",
    "tree -L 2",
    "tree src",
    "tree -a -L 2 -I 'node_modules|.git'",
    "tree -d",
    "realpath src",
    "readlink -f src/run.ts",
    "basename src/run.ts .ts",
    "dirname src/run.ts",
  ],
  versions: [
    "node --version",
    "node -v",
    "npm --version",
    "npm -v",
    "python3 --version",
    "python --version",
    "tsc --version",
    "make --version",
    "gcc --version",
    "npm ls",
    "npm ls --depth=0",
  ],
};

/** At least this share must run without anybody being asked. */
const SHARE = 0.95;

const scene: ShellScene = shellScene();
after(() => scene[Symbol.dispose]());

type Explained = Explanation & { readonly id: string };

/** All lines through the real door, in one process. */
function explainAll(policy: PolicyText, commands: readonly string[]): readonly Explained[] {
  const batch = commands.map((command, index) => JSON.stringify({ id: String(index), tool: "shell", input: { command } })).join("\n");
  const argv = ["explain", "--policy", scene.policy(policy), "--workspace", scene.workspace, "--batch", "-"];
  const options = { cwd: scene.workspace, env: { ...scene.env }, input: batch, encoding: "utf8", maxBuffer: 2 ** 27 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...argv], options);
  assert.equal(status, 0, stderr);
  const explained: readonly Explained[] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    explained.map(({ id }) => id),
    commands.map((_, index) => String(index)),
  );
  return explained;
}

suite("5.11: what agents do to look around is proven to be read-only", () => {
  const commands = Object.values(LOOKING_AROUND).flat();

  test(`at least ${SHARE * 100} % of them are allowed by the read-only hint, the others are asked about, none is denied`, () => {
    assert.ok(commands.length >= 300);
    assert.equal(new Set(commands).size, commands.length);
    const explained = explainAll({}, commands);
    const asked = commands.filter((_, index) => explained[index]?.verdict !== "allow");
    assert.ok(asked.length <= commands.length * (1 - SHARE), `asked about ${asked.length} of ${commands.length}:\n${asked.join("\n")}`);
    assert.deepEqual([...new Set(explained.map(({ verdict }) => verdict))].toSorted(), ["allow", "ask"]);
    for (const { verdict, reason } of explained) assert.equal(verdict === "allow", reason === "readonly_hint");
  });

  test("with the hint off none of them is allowed", () => {
    const explained = explainAll({ permissions: { readOnlyHint: "ask" } }, commands);
    assert.deepEqual(
      commands.filter((_, index) => explained[index]?.verdict !== "ask"),
      [],
    );
  });
});

/** Twenty commands of every fate; the first ones are allowed. */
const ALLOWED: readonly string[] = [
  "ls -la src",
  "cat README.md 'src/run.ts'",
  "cat src/*.ts",
  "head -n 2 README.md | wc -l",
  'grep -rn "TODO: less" src && echo found',
  "cd src && ls -1 cli; pwd",
  "sort -t, -k2 data/rows.csv | uniq -c",
  "find . -name '*.ts' -not -path './test/*'",
  "sed -n '1,2p' README.md 2>/dev/null",
  "git status --short",
  "git log --oneline -1 -- README.md",
  "git --no-pager diff --stat",
];

const OTHERS: readonly string[] = [
  "npm test",
  "git push origin main",
  "echo hi > notes.txt",
  "sh -c \"sh -c 'curl https://example.test'\"",
  "cat .env",
  "ls $X",
  "rm -rf /",
  "ls && (",
];

const S08: PolicyText = { permissions: { deny: ["Shell(curl)", "Shell(git push)"], ask: ["Shell(npm test)"] } };

/** A directory of programs that write down how they were started, and then are what they are called. */
function watchedPrograms(directory: string, log: string): readonly string[] {
  mkdirSync(directory);
  const names = ["ls", "cat", "head", "wc", "grep", "echo", "pwd", "sort", "uniq", "find", "sed", "git"];
  for (const name of names) {
    const text = `#!/bin/sh\nprintf '%s\\0' "$#" ${name} "$@" >> ${log}\nPATH=/usr/bin:/bin\nexec ${name} "$@"\n`;
    writeFileSync(join(directory, name), text);
    chmodSync(join(directory, name), 0o755);
  }
  return [directory];
}

/** What these programs wrote down: a count of words, the name, the words. */
function startedPrograms(log: string): readonly (readonly string[])[] {
  const words = readFileSync(log, "utf8").split("\0").slice(0, -1);
  const found: (readonly string[])[] = [];
  for (let at = 0; at < words.length; ) {
    const next = at + 2 + Number(words[at]);
    found.push(words.slice(at + 1, next));
    at = next;
  }
  return found;
}

suite("what is explained is what is recorded and what runs", () => {
  const commands = [...ALLOWED, ...OTHERS];
  const log = join(scene.root, "started");
  let policy: PolicyText;
  let explained: readonly Explained[];

  before(() => {
    policy = { ...S08, shell: { path: watchedPrograms(join(scene.root, "programs"), log) } };
    explained = explainAll(policy, commands);
  });

  test("the first commands are allowed, the others are not", () => {
    const verdicts = explained.map(({ verdict }) => verdict);
    assert.deepEqual(verdicts, [...ALLOWED.map(() => "allow"), "ask", "deny", "ask", "deny", "ask", "ask", "deny", "ask"]);
  });

  for (const [index, command] of commands.entries())
    test(`${command}: its plan's digest, verdict and rule are in the ledger as they were explained`, async () => {
      const { judged } = await callAlone(command);
      const { plan, verdict, reason, source, rule } = explained[index] as Explained;
      assert.deepEqual(
        [judged.planDigest, judged.verdict, judged.reason, judged.source, judged.rule?.text],
        [plan?.digest, verdict, reason, source, rule?.text],
      );
    });

  for (const [index, command] of ALLOWED.entries())
    test(`${command}: the programs of the plan are started, with its words`, async () => {
      const { started } = await callAlone(command);
      const planned = (explained[index]?.plan?.commands ?? []).map(({ argv }) => argv.map(({ text }) => text));
      const ran = started.filter((words) => !isQuery(words)).map(withoutHardening);
      assert.deepEqual(ran.toSorted(byText), planned.filter(([name]) => name !== "cd").toSorted(byText));
    });

  for (const command of OTHERS)
    test(`${command}: nothing is started`, async () => {
      assert.deepEqual((await callAlone(command)).started, []);
    });

  for (const [index, command] of commands.entries())
    test(`${command}: the text shows its words, and the rule or hazard that decides`, async () => {
      const argv = ["explain", "--policy", scene.policy(policy), "--tool", "shell", "--input", JSON.stringify({ command })];
      const { code, stdout } = await scene.assent(...argv);
      assert.equal(code, 0);
      for (const word of tellingWords(explained[index] as Explained)) assert.ok(stdout.includes(word), `${word} is not in:\n${stdout}`);
    });

  /** One call with nobody to ask: how it was judged, and what it started. */
  async function callAlone(command: string): Promise<{ readonly judged: Judged; readonly started: readonly (readonly string[])[] }> {
    writeFileSync(log, "");
    await scene.assent("call", "shell", "--policy", scene.policy(policy), "--on-ask", "deny", "--input", JSON.stringify({ command }));
    const judged = scene
      .events()
      .filter(({ type }) => type === "call.judged")
      .at(-1)?.body;
    assert.equal(judged?.input.command, command);
    return { judged, started: startedPrograms(log) };
  }
});

/** What a person has to see: the verdict, the first word, and the rule that decides or the first hazard where none does. */
function tellingWords({ verdict, rule, plan }: Explained): readonly string[] {
  const { commands = [], hazards = [] } = plan ?? {};
  const [hazard] = [...hazards, ...commands.flatMap((command) => command.hazards)];
  const why = rule?.text.replace(/^safeguard:/, "safeguard ") ?? (verdict === "allow" ? undefined : hazard?.text);
  return [verdict, commands[0]?.argv[0]?.text, why].filter((word) => word !== undefined);
}

type Judged = {
  readonly input: { readonly command: string };
  readonly planDigest: string;
  readonly verdict: string;
  readonly reason: string;
  readonly source: string;
  readonly rule: { readonly text: string } | null;
};

/** A look at the repository before a git command runs. */
function isQuery(words: readonly string[]): boolean {
  return words[0] === "git" && words.slice(-5).join(" ") === "config --list -z --show-scope --show-origin";
}

/** A git command without what keeps it from running programs. */
function withoutHardening([name = "", ...args]: readonly string[]): readonly string[] {
  if (name === "grep") return [name, ...args.filter((word) => !/^--exclude(?:-dir)?=.*\[|^--include=\.env\./.test(word))];
  if (name !== "git") return [name, ...args];
  const own = args.filter((word, i) => word !== "-c" && args[i - 1] !== "-c" && !ADDED.includes(word));
  const [first, ...rest] = own;
  assert.equal(first, "--no-pager");
  return [name, ...rest];
}

const ADDED = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"];

function byText(a: readonly string[], b: readonly string[]): number {
  const [one, other] = [a.join("\0"), b.join("\0")];
  return one < other ? -1 : one > other ? 1 : 0;
}

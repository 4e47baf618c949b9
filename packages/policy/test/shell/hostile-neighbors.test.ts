import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { createPathLookup } from "../../src/paths/lookup.ts";
import { analyzeShell } from "../../src/shell/plan/analyze.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-neighbors-")));
after(() => rmSync(root, { recursive: true, force: true }));
const [workspace, home] = [join(root, "w"), join(root, "h")];

/** A text, or `-> target` for a link; a name that ends in a slash is a directory. */
function put(base: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(base, name);
    mkdirSync(name.endsWith("/") ? path : dirname(path), { recursive: true });
    if (text.startsWith("-> ")) symlinkSync(text.slice(3), path);
    else if (!name.endsWith("/")) writeFileSync(path, text);
  }
}

put(workspace, {
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": '[remote "origin"]\n\turl = git@example.test:a/b.git\n',
  ".git/objects/": "",
  ".git/refs/": "",
  ".env": "A=1\n",
  "README.md": "# x\n",
  "a.txt": "a\n",
  "b.txt": "b\n",
  "package.json": "{}\n",
  "src/a.ts": "a\n",
  "keys/id_rsa": "key\n",
  "keys/note.txt": "note\n",
  "links/out": "-> /etc/passwd",
  "dashes/-delete": "",
  "dashes/a": "",
  away: "-> /etc",
});
execFileSync("mkfifo", [join(workspace, "pipe")]);
mkdirSync(home);

const look = createPathLookup({ workspace, home });

function onlyReads(text: string, from: string = home): boolean {
  return analyzeShell(text, { cwd: workspace, workspace, home: from, look, findProgram: (name) => installed(name) }).line.readOnly;
}

/** `perl` is a link to a program of another name, and `ruby` is missing. */
function installed(name: string): ReturnType<Parameters<typeof analyzeShell>[1]["findProgram"]> {
  const file = name === "perl" ? join(root, "proxy-of-perl") : join(root, "bin", name);
  return name === "ruby" ? undefined : { file, dev: 0, ino: 0, size: 0, mtimeMs: 0, ctimeMs: 0 };
}
put(root, { "bin/node": "", "bin/docker": "", "bin/chooser": "", "proxy-of-perl": "-> bin/chooser" });

/** A form that passes, and lines close to it that must ask. */
const FORMS: readonly (readonly [form: string, passes: readonly string[], asks: readonly string[]])[] = [
  [
    "patterns over files of the workspace",
    ["ls *.md", "cat *.txt", "grep foo src/*", "echo *"],
    [
      "cat .e*",
      "cat .??*",
      "grep x keys/*",
      "cat links/*",
      "cat away/*",
      "ls ../*",
      "cat pip*",
      "cd dashes && ls *",
      "cat */id*",
      "rm *",
      "cat *.txt > out",
    ],
  ],
  [
    "patterns in options",
    ["grep -r foo --include=*.ts src", "ls --hide=*.ts"],
    ["grep -r foo --include=.env* .", "grep -r foo --include=*.pem .", "cd dashes && ls -*", "sort --outpu*=x a.txt", "find . -de*"],
  ],
  [
    "xargs after a list of files",
    ["find . | xargs grep foo", "find . -print0 | xargs -0 cat", "ls | xargs -n1 wc -l", "rg -l x | xargs -I{} head -1 {}"],
    [
      "find . | xargs rm",
      "find . | xargs sed -i s/a/b/",
      "find . | xargs sh -c id",
      "find . | xargs grep -r foo",
      "find . | xargs grep -f /etc/passwd",
      "find . | xargs uniq",
      "find . | xargs xxd",
      "find . | xargs -I{} sh -c {}",
      "find . | xargs -I{} cat /etc/{}",
      "find . | xargs -I% awk % a.txt",
      "find . | xargs -I{} sed {} a.txt",
      "find . | xargs -a /etc/passwd cat",
      "find . | xargs -E x cat",
      "find . | xargs find",
      "find . | xargs xargs cat",
      "find . | xargs env",
      "find . | xargs git add",
      "find . | xargs -- rm",
      "xargs cat",
      "echo /etc/passwd | xargs cat",
      "printf /etc/passwd | xargs cat",
      "find / | xargs cat",
      "cat /etc/passwd | xargs cat",
      "find . | xargs cat > out",
    ],
  ],
  [
    "find -exec",
    ["find . -exec grep foo {} +", "find src -type f -exec wc -l {} \\;", "find . -exec sed -n 1p {} \\; -exec ls -l {} \\;"],
    [
      "find . -exec rm {} +",
      "find . -exec sh -c 'cat {}' \\;",
      "find . -exec grep -r foo {} +",
      "find . -exec awk {} a.txt \\;",
      "find . -exec sed {} a.txt \\;",
      "find . -exec sed -i s/a/b/ {} +",
      "find . -exec cat /etc/{} \\;",
      "find . -exec grep foo {} /etc/passwd \\;",
      "find . -exec uniq {} +",
      "find . -exec {} \\;",
      "find . -execdir cat {} +",
      "find . -ok cat {} \\;",
      "find . -exec cat {} + -delete",
      "find . -type l -exec cat {} +",
      "find -L . -exec cat {} +",
      "find .. -exec cat {} +",
      "find keys/id_rsa -exec cat {} +",
      "find . -exec cat",
    ],
  ],
  [
    "sed",
    ["sed 's/a/b/' a.txt", "sed -e p -e d a.txt", "sed '1a text' a.txt"],
    [
      "sed -i s/a/b/ a.txt",
      "sed 's/a/b/w out' a.txt",
      "sed 's/a/id/e' a.txt",
      "sed 'w out' a.txt",
      "sed '1e id' a.txt",
      "sed 'r /etc/passwd' a.txt",
      "sed -f x a.txt",
      "sed -s -i p a.txt",
      "sed --in-place=.bak p a.txt",
      "sed p .env",
      "sed p /etc/passwd",
      "sed -e 'a\\' -e 'w out' a.txt",
      "sed '1i x\nw out' a.txt",
    ],
  ],
  [
    "awk",
    ["awk '$1 > 5 {print}' a.txt", "awk '/a|b/ {n++} END {print n}' a.txt"],
    [
      "awk '{print > \"out\"}' a.txt",
      "awk '{print $1 > $2}' a.txt",
      'awk \'{printf "x" >> "out"}\' a.txt',
      "awk '{print | \"sh\"}' a.txt",
      "awk '$1 > 5 {print > \"out\"}' a.txt",
      "awk 'BEGIN {system(\"id\")}'",
      "awk 'BEGIN {\"id\" | getline x; y = x}'",
      "awk 'BEGIN {while ((getline x < \"/etc/passwd\") > 0) y = x}'",
      "awk 'BEGIN {print ENVIRON[\"HOME\"]}'",
      "awk -f x a.txt",
      "awk '{print}' .env",
    ],
  ],
  [
    "conditions",
    ["[ -f a.txt ]", "[ ! -d src ] && ls", "test ! -e x"],
    ["[ -f /etc/passwd ]", "[ -f .env ]", "[ -v HOME ]", "[ -f a.txt", "[ -f a.txt ] > out", "[[ -f a.txt ]]", "[ -f a.txt -a -f b.txt ]"],
  ],
  [
    "known variables",
    ["echo $HOME", 'echo "$PWD/src"', `ls \${PWD}`],
    [
      "echo $API_KEY",
      "echo $GITHUB_TOKEN",
      `echo \${AWS_SECRET_ACCESS_KEY}`,
      `echo \${HOME:-$KEY}`,
      `echo \${!HOME}`,
      "ls $HOME",
      "cat $HOME/.bashrc",
      "cat $PWD/.env",
      "$HOME/x",
      "echo $HOME > out",
      "echo $HOMEX",
      "echo $0",
      "echo $*",
      "touch $PWD/x",
      "echo $(env)",
    ],
  ],
  [
    "the environment",
    [],
    [
      "env",
      "printenv",
      "printenv API_KEY",
      "set",
      "declare -p",
      "export -p",
      "export",
      "typeset",
      "compgen -v",
      "env | grep KEY",
      "jq -n env",
      "cat /proc/self/environ",
    ],
  ],
  [
    "looking up programs",
    ["command -v git", "type git", "type -a git npm"],
    [
      "command git push",
      "command -p rm x",
      "command -V 'a;b'",
      "type -t x y; rm x",
      "command -v ../x",
      "command",
      "type -f x",
      "builtin type x",
    ],
  ],
  [
    "git",
    [
      "git -C src status",
      "git diff HEAD^",
      "git for-each-ref",
      "git check-ignore a.txt",
      "git config --get user.name",
      "git config user.name",
      "git remote -v",
    ],
    [
      "git -C .. status",
      "git -C /etc status",
      "git -C away status",
      "git -C src -c core.pager=x log",
      "git -C src -C .. status",
      "git -C src push",
      "git -Csrc status",
      "git -c core.fsmonitor=x status",
      "git --git-dir=x status",
      "git --exec-path=x status",
      "git -p log",
      "git diff --ext-diff HEAD^",
      "git log --textconv HEAD^",
      "git for-each-ref --format='%(signature)'",
      "git for-each-ref --stdin",
      "git check-ignore --stdin",
      "git check-ignore /etc/passwd",
      "git config --get credential.helper",
      "git config --get http.extraheader",
      "git config --get http.proxy",
      "git config --list",
      "git config user.name x",
      "git config --get-regexp .",
      "git config --unset user.name",
      "git config -f /etc/x user.name",
      "git symbolic-ref HEAD refs/heads/x",
      "git show HEAD:.env",
      "git grep --untracked x",
    ],
  ],
  [
    "npm",
    ["npm ls --depth=0", "npm list react", "npm run"],
    [
      "npm ls -g",
      "npm ls --prefix=/etc",
      "npm run x",
      "npm config get //registry.npmjs.org/:_authToken",
      "npm config list",
      "npm ls --registry=http://x",
      "npm ls --script-shell=./x",
      "npm exec ls",
      "npm view x",
      "npm --version x",
    ],
  ],
  [
    "versions",
    ["node --version", "docker --version"],
    [
      "perl --version",
      "ruby --version",
      "./node --version",
      "node --version x.js",
      "node --require=x --version",
      "unknown --version",
      "yarn --version",
      "go version",
      "cargo --version",
    ],
  ],
  [
    "processes and the system",
    ["ps aux", "ps -ef", "nproc", "uptime", "hostname", "pgrep node"],
    [
      "ps e",
      "ps auxe",
      "ps axe",
      "ps eww",
      "ps -o environ",
      "ps -ef e",
      "ps -auxe",
      "ps --foo",
      "hostname x",
      "hostname -F a.txt",
      "uptime x",
      "nproc x",
      "pkill node",
      "sleep 1000",
      "sleep infinity",
      "pgrep --signal 9 x",
    ],
  ],
  [
    "bytes",
    ["xxd a.txt", "xxd -ps a.txt", "od -c a.txt", "base64 a.txt", "strings a.txt", "hexdump -C a.txt"],
    [
      "xxd -r a.txt",
      "xxd -revert a.txt out",
      "xxd -r -p a.txt out",
      "xxd a.txt out",
      "xxd -ps .env",
      "xxd -psr a.txt",
      "xxd -s /etc/passwd a.txt",
      "od .env",
      "od /dev/zero",
      "od a.txt +10",
      "od pipe",
      "base64 .env",
      "base64 -d keys/id_rsa",
      "strings @a.txt",
      "strings /proc/self/environ",
      "hexdump -f a.txt b.txt",
      "cat /dev/random | base64",
      "cat pipe",
      "cat < pipe",
    ],
  ],
  [
    "input from a file",
    ["wc -l < a.txt", "sort < a.txt | uniq"],
    [
      "wc -l < .env",
      "wc < /etc/passwd",
      "wc < /dev/zero",
      "wc < links/out",
      "sh < a.txt",
      "wc < a.txt < b.txt",
      "xargs rm < a.txt",
      "wc < a.txt > b.txt",
      "wc < missing",
      "bash -s < a.txt",
    ],
  ],
  [
    "docker",
    ["docker ps -a", "docker images", "docker logs web", "docker container ls"],
    [
      "docker inspect web",
      "docker history x",
      "docker logs -f web",
      "docker logs --details web",
      "docker -H ssh://x ps",
      "docker --context x ps",
      "docker --config x ps",
      "docker compose ps",
      "docker exec web env",
      "docker run x",
      "docker stats",
      "docker events",
      "docker cp web:/x .",
      "docker secret ls",
      "docker buildx ls",
      "docker plugin ls",
    ],
  ],
  [
    "kubectl",
    ["kubectl get pods", "kubectl get pods -n x -o wide", "kubectl logs web", "kubectl version --client"],
    [
      "kubectl get secret",
      "kubectl get secrets,pods",
      "kubectl get pods,secrets",
      "kubectl get all",
      "kubectl get pods -o yaml",
      "kubectl get pods -o jsonpath='{.items}'",
      "kubectl get configmap",
      "kubectl get pods secret/x",
      "kubectl config view --raw",
      "kubectl config view",
      "kubectl describe secret x",
      "kubectl describe pod x",
      "kubectl logs -f web",
      "kubectl get pods -w",
      "kubectl exec web env",
      "kubectl get --raw /x",
      "kubectl --kubeconfig x get pods",
      "kubectl -s http://x get pods",
      "kubectl get pods --token=x",
      "kubectl some-plugin",
      "kubectl delete pod x",
    ],
  ],
  [
    "gh",
    ["gh pr list", "gh pr view 12", "gh issue list -R owner/name", "gh run list --limit 5"],
    [
      "gh auth token",
      "gh auth status --show-token",
      "gh api user",
      "gh api -X DELETE repos/x",
      "gh pr list -R evil.example/owner/name",
      "gh pr view https://evil.example/a/b/pull/1",
      "gh pr list --web",
      "gh pr list --jq env",
      "gh pr list --template x",
      "gh pr merge 12",
      "gh extension list",
      "gh some-alias",
      "gh run view 1 --log",
      "gh secret list",
      "gh --hostname x pr list",
    ],
  ],
];

describe("lines that only read pass, and their hostile neighbors ask", () => {
  for (const [form, passes, asks] of FORMS) {
    test(form, () => {
      assert.deepEqual(
        passes.filter((line) => !onlyReads(line)),
        [],
        "asks needlessly",
      );
      assert.deepEqual(
        asks.filter((line) => onlyReads(line)),
        [],
        "passes",
      );
      assert.ok(asks.length >= 3);
    });
  }
});

/** Settings in the home directory, and lines that pass only without them. */
const SETTINGS: readonly (readonly [sentence: string, files: Readonly<Record<string, string>>, lines: readonly string[]])[] = [
  ["a docker context", { ".docker/config.json": '{ "currentContext": "far" }' }, ["docker ps"]],
  ["docker's plugins", { ".docker/config.json": '{ "plugins": {} }' }, ["docker ps"]],
  ["broken settings of docker", { ".docker/config.json": "{" }, ["docker images"]],
  [
    "a program that knows the cluster's password",
    { ".kube/config": "users:\n- user:\n    exec:\n      command: x\n" },
    ["kubectl get pods"],
  ],
  ["kubectl's own settings", { ".kube/kuberc": "x" }, ["kubectl logs web"]],
  ["a proxy to the cluster", { ".kube/config": "proxy-url: http://x" }, ["kubectl get pods"]],
  [
    "a password in an address of git",
    { ".gitconfig": '[url "https://me:token@example.test/"]\n' },
    ["git remote -v", "git config --get remote.origin.url", "git config user.name"],
  ],
];

describe("settings that start programs or hold passwords make a line ask", () => {
  for (const [i, [sentence, files, lines]] of SETTINGS.entries())
    test(sentence, () => {
      const other = join(root, `h${i}`);
      put(other, files);
      for (const line of lines) assert.deepEqual([line, onlyReads(line), onlyReads(line, other)], [line, true, false]);
    });

  test("a token in an address of the repository", () => {
    const config = join(workspace, ".git/config");
    writeFileSync(config, '[remote "origin"]\n\turl = https://ghp_x@example.test/a/b.git\n');
    assert.deepEqual(
      ["git remote -v", "git remote get-url origin", "git config remote.origin.url"].filter((line) => onlyReads(line)),
      [],
    );
    assert.ok(onlyReads("git status"));
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { walkBash } from "../../../src/shell/walk/walk.ts";
import { broadly } from "../match/broadly.ts";

/** Commands inside wrappers: `D` is `curl x`; the path is the one it is found under. */
const INSIDE: readonly (readonly [text: string, path: readonly string[]])[] = [
  ["command curl x", ["command"]],
  ["command -p -- curl x", ["command"]],
  ["builtin command curl x", ["builtin", "command"]],
  ["exec curl x", ["exec"]],
  ["exec -cla name curl x", ["exec"]],
  ["nohup curl x &", ["&", "nohup"]],
  ["setsid -w curl x", ["setsid"]],
  ["\\time -f %e -o out curl x", ["time"]],
  ["/usr/bin/time -vo out curl x", ["time"]],
  ["time -f %e curl x", ["time", "time"]],
  ["doas -u root -- curl x", ["doas"]],
  ["chronic -ev curl x", ["chronic"]],
  ["caffeinate -dt 5 curl x", ["caffeinate"]],
  ["env curl x", ["env"]],
  ["env - A=1 B=2 curl x", ["env"]],
  ["env -iu A -C /tmp B=1 curl x", ["env"]],
  ["env --unset=A --chdir /tmp curl x", ["env"]],
  ["env -- -A=1 =2 curl x", ["env"]],
  ["env -S 'curl x'", ["env", "env"]],
  ["env -S'curl x'", ["env", "env"]],
  ["env -iu X -S 'curl x'", ["env", "env"]],
  ["env -vS 'A=1 curl' x", ["env", "env"]],
  ["env --split-string='-i curl\\_x'", ["env", "env"]],
  ["sudo curl x", ["sudo"]],
  ["sudo -u root -- curl x", ["sudo"]],
  ["sudo -Eu root A=1 curl x", ["sudo"]],
  ["sudo --user=root -n curl x", ["sudo"]],
  ["runuser -u nobody -- curl x", ["runuser"]],
  ["runuser nobody -c 'curl x'", ["runuser"]],
  ["su -c 'curl x'", ["su"]],
  ["su - root -c 'curl x'", ["su"]],
  ["su root --command='curl x'", ["su"]],
  ["su root -- -c 'curl x'", ["su"]],
  ["nice curl x", ["nice"]],
  ["nice -n 5 curl x", ["nice"]],
  ["nice -n5 curl x", ["nice"]],
  ["nice -5 curl x", ["nice"]],
  ["nice --adjust=5 curl x", ["nice"]],
  ["ionice -c2 -n 7 curl x", ["ionice"]],
  ["chrt -r 1 curl x", ["chrt"]],
  ["taskset -c 0,1 curl x", ["taskset"]],
  ["taskset 0x3 curl x", ["taskset"]],
  ["stdbuf -oL -e 0 curl x", ["stdbuf"]],
  ["timeout 5 curl x", ["timeout"]],
  ["timeout -k 5 -s KILL 10 curl x", ["timeout"]],
  ["timeout --sig=KILL 10 curl x", ["timeout"]],
  ["flock -w 5 lock curl x", ["flock"]],
  ["flock lock -c 'curl x'", ["flock"]],
  ["unshare -rm --map-user=1 curl x", ["unshare"]],
  ["nsenter -t 1 -m -u curl x", ["nsenter"]],
  ["chroot --userspec=a /root curl x", ["chroot"]],
  ["watch -n 5 curl x", ["watch"]],
  ["watch -d 'curl x'", ["watch"]],
  ["script -qc 'curl x' out", ["script"]],
  ["script out --command='curl x'", ["script"]],
  ["strace -f -e trace=file -o out curl x", ["strace"]],
  ["ltrace -o out curl x", ["ltrace"]],
  ["parallel curl ::: x", ["parallel"]],
  ["parallel -j 4 'curl {}' ::: x", ["parallel"]],
  ["parallel ::: 'curl x'", ["parallel"]],
  ["entr -r curl x", ["entr"]],
  ["entr -s 'curl x'", ["entr"]],
  ["ls | xargs curl x", ["|[1]", "xargs"]],
  ["xargs -0 -n1 -P 4 curl x", ["xargs"]],
  ["xargs -0rn 1 curl x", ["xargs"]],
  ["xargs -I{} curl {}", ["xargs"]],
  ["xargs --replace=% curl %", ["xargs"]],
  ["find . -name y -exec curl x \\;", ["find -exec"]],
  ["find . -exec echo {} + -o -execdir curl {} ';'", ["find -execdir"]],
  ["find . -ok curl x \\; -okdir ls \\;", ["find -ok"]],
  ["sh -c 'curl x'", ["sh -c"]],
  ["bash -c 'curl x' name a", ["bash -c"]],
  ["/bin/dash -ec 'curl x'", ["dash -c"]],
  ["ash -lc 'curl x'", ["ash -c"]],
  ["zsh -fc 'curl x'", ["zsh -c"]],
  ["ksh -c -- 'curl x'", ["ksh -c"]],
  ["bash -c -x 'curl x'", ["bash -c"]],
  ["sh -o errexit -c 'curl x'", ["sh -c"]],
  ["sh +e -c 'curl x'", ["sh -c"]],
  ["bash --norc --rcfile y -O extglob -c 'curl x'", ["bash -c"]],
  ["bash -euo pipefail -c 'curl x'", ["bash -c"]],
  ["bash --unheard -c 'curl x'", ["bash -c"]],
  ["bash <<EOF\ncurl x\nEOF", ["heredoc"]],
  ["bash -s <<'EOF'\ncurl x\nEOF", ["heredoc"]],
  ["bash <<EOF\n\\$'\\\\x63url' x\nEOF", ["heredoc"]],
  ["sh -s -c ls <<< 'curl x'", ["heredoc"]],
  ["bash /dev/stdin <<< 'curl x'", ["heredoc"]],
  ["{ sh; } <<EOF\ncurl x\nEOF", ["{", "heredoc"]],
  ["source /dev/stdin <<< 'curl x'", ["heredoc"]],
  ["echo curl x | sh", ["|[1]", "pipe"]],
  ["printf '%s\\n' 'curl x' | sudo sh", ["|[1]", "sudo", "pipe", ";[1]"]],
  ["script <<< 'curl x'", ["heredoc"]],
  ["su - root <<< 'curl x'", ["heredoc"]],
  ["sudo -i <<< 'curl x'", ["heredoc"]],
  ["busybox curl x", ["busybox"]],
  ["toybox curl x", ["toybox"]],
  ["busybox sh -c 'curl x'", ["busybox", "sh -c"]],
  ["eval curl x", ["eval"]],
  ["eval \"curl\" 'x'", ["eval"]],
  ["trap 'curl x' EXIT", ["trap"]],
  ["trap -- 'curl x' INT TERM", ["trap"]],
  ["mapfile -c 1 -C 'curl x' a", ["mapfile"]],
  ["readarray -C 'curl x' a", ["readarray"]],
  ["complete -C 'curl x' y", ["complete"]],
  ["complete -F curl y", ["complete"]],
  ["bind -x '\"\\C-t\": curl x'", ["bind"]],
  ["PROMPT_COMMAND='curl x'", ["PROMPT_COMMAND="]],
  ["export PROMPT_COMMAND='curl x'", ["PROMPT_COMMAND="]],
  ["PROMPT_COMMAND=('curl x')", ["PROMPT_COMMAND="]],
  ["GIT_PAGER='curl x' git log", ["GIT_PAGER="]],
  ["env PAGER='curl x' git log", ["PAGER="]],
  ["alias y='curl x'", ["alias"]],
  ["alias y=curl", ["alias"]],
  ["hash -p /usr/bin/curl ls", ["hash"]],
  ["jobs -x curl x", ["jobs"]],
  ["git -c alias.y='!curl x' y", ["git alias"]],
  ["git config alias.y '!curl x'", ["git alias"]],
  ["git -c core.pager='curl x' log", ["git core.pager"]],
  ["git submodule foreach --recursive 'curl x'", ["git submodule foreach"]],
  ["git bisect run curl x", ["git bisect run"]],
  ["git rebase -x 'curl x' HEAD~1", ["git rebase"]],
  ["git rebase --exec='curl x' HEAD~1", ["git rebase"]],
  ["git filter-branch --msg-filter 'curl x'", ["git filter-branch"]],
  ["git difftool -x 'curl x'", ["git difftool"]],
  ["git difftool --extcmd='curl x'", ["git difftool"]],
  ["git fetch --upload-pack='curl x' origin", ["git fetch"]],
  ["npx curl x", ["npx"]],
  ["npx -y -p y curl@8 x", ["npx"]],
  ["npx -c 'curl x'", ["npx"]],
  ["pnpm dlx curl x", ["pnpm dlx"]],
  ["yarn dlx curl x", ["yarn dlx"]],
  ["bunx curl x", ["bunx"]],
  ["npm exec -- curl x", ["npm exec"]],
  ["npm --prefix y exec curl", ["npm exec"]],
  ["uvx --from y curl x", ["uvx"]],
  ["uv tool run curl x", ["uv tool run"]],
  ["pipx run curl x", ["pipx run"]],
  ["let 'a[$(curl x)]=1'", ["[]", "$()"]],
  ["printf -v 'a[`curl x`]' y", ["[]", "$()"]],
  ["[[ -v 'a[$(curl x)]' ]]", ["[[", "[[", "$()"]],
  ["timeout --unheard y 5 curl x", ["timeout"]],
  ["nice -Z 1 curl x", ["nice"]],
  ["timeout $X 5 curl x", ["timeout"]],
  ["env $X curl x", ["env"]],
  ["env $X=y curl x", ["env"]],
  ["env -u$X A curl x", ["env"]],
  ["systemd-run --user -p A=b curl x", ["systemd-run"]],
  ["ENV A=1 NICE -n 5 curl x", ["env", "nice"]],
];

for (const [text, path] of INSIDE) {
  test(`a wrapper is looked into: ${text}`, () => {
    assert.equal(broadly("curl", text), "yes");
    const paths = walkBash(text)
      .commands.filter(({ argv }) => argv[0]?.text.endsWith("curl"))
      .map((seen) => seen.path.join(" > "));
    assert.ok(paths.includes(path.join(" > ")), `found under ${JSON.stringify(paths)}`);
  });
}

test("a wrapper is a command itself, and says which command it wraps", () => {
  const { commands } = walkBash("sudo -u root env A=1 curl x");
  assert.deepEqual(
    commands.map(({ argv, path, inside }) => [argv.map(({ text }) => text).join(" "), path, inside]),
    [
      ["sudo -u root env A=1 curl x", [], undefined],
      ["env A=1 curl x", ["sudo"], 0],
      ["curl x", ["sudo", "env"], 1],
    ],
  );
});

test("a git alias without a bang is a subcommand", () => {
  assert.equal(broadly("git push", "git -c alias.y=push y"), "yes");
  assert.equal(broadly("git push", "git config alias.y 'push --force'"), "yes");
  assert.equal(broadly("git push", "git -c alias.y=log y"), "no");
});

test("xargs leaves the end of its command open, and marks what it replaces", () => {
  assert.deepEqual(
    walkBash("xargs curl x").commands.map(({ openEnd }) => openEnd),
    [false, true],
  );
  assert.deepEqual(
    walkBash("xargs env curl x").commands.map(({ openEnd }) => openEnd),
    [false, true, true],
  );
  const [, inner] = walkBash("xargs -I@ curl a@ b").commands;
  assert.equal(inner?.openEnd, false);
  assert.deepEqual(
    inner?.argv.map(({ dynamic }) => dynamic),
    [false, true, false],
  );
});

const DOUBTS: readonly string[] = [
  "eval $X",
  'eval "$(cat x)"',
  'bash -c "$X"',
  "sh -c $X",
  "xargs sh -c",
  "xargs -I% sh -c '%'",
  'trap "$X" EXIT',
  "cat x | sh",
  "cat x | sudo -u root bash -s -- a",
  "cat x | { read y; sh; }",
  "cat x | bash -",
  "cat x | bash /dev/stdin",
  "cat x | . /dev/stdin",
  "bash <(cat x)",
  "source <(cat x)",
  "bash < <(cat x)",
  "bash <&3",
  'bash <<< "$X"',
  "bash <<EOF\n$X\nEOF",
  "bash $X",
  "cat x | parallel",
  "parallel {} ::: x",
  "cat x | sudo -s",
  "cat x | su -",
  "cat x | unshare -r",
  "xargs env",
  "xargs sudo -u root",
  "xargs xargs -n1",
  "xargs timeout 5",
  "xargs bash",
  "env $X ls",
  'env "$@"',
  "nice $X",
  "su -c $X",
  'git -c alias.x="!$X" x',
];
for (const text of DOUBTS) {
  test(`what a wrapper runs is doubtful: ${JSON.stringify(text)}`, () => assert.equal(broadly("curl", text), "doubt"));
}

test("a partly dynamic text is still searched", () => {
  assert.equal(broadly("curl", 'bash -c "curl $URL"'), "yes");
  assert.equal(broadly("curl", 'eval "curl $URL"'), "yes");
  assert.equal(broadly("curl", "bash <<EOF\ncurl $URL\nEOF"), "yes");
});

test("a shell at the end of a pipe has the hazard pipe_to_shell", () => {
  const [, shell] = walkBash("cat x | sh").commands;
  assert.deepEqual(
    shell?.hazards.map(({ id }) => id),
    ["pipe_to_shell"],
  );
});

const DATA: readonly string[] = [
  "command -v curl",
  "command -V curl",
  "type curl",
  "sudo -l curl",
  "timeout 5 echo curl",
  "env A=curl ls",
  "env -u curl ls",
  "nice -n 5 grep curl x",
  "nice -5 grep curl x",
  "timeout --sig KILL 10 grep curl x",
  'timeout "$X" grep curl x',
  'sudo -u "$X" grep curl x',
  "xargs echo curl",
  "find . -name curl",
  "find . -exec grep curl {} +",
  "bash script.sh curl",
  'bash "$SCRIPT"',
  ". $HOME/.profile",
  "source ~/.bashrc",
  "trap - EXIT",
  "trap '' INT",
  "git commit -m 'curl x'",
  "git -c user.name=curl log",
  "git log --exec=curl",
  "git config user.name curl",
  "npm install curl",
  "npm run curl",
  "docker run curl",
  "docker exec x curl y",
  "kubectl exec x -- curl y",
  "ssh host curl x",
  "make curl",
  "python3 -c 'curl'",
  "A=curl ls",
  "export A=curl",
  "test -f curl",
  "bash < x",
  "cat x | bash y.sh",
  "cat x | sudo tee y",
  "cat x | env sort",
];
for (const text of DATA) {
  test(`data is not a command: ${text}`, () => assert.equal(broadly("curl", text), "no"));
}

/** Commands in a text or option of a program that is not a shell. */
const HIDDEN: readonly string[] = [
  ...[
    "tar cf a.tar --checkpoint=1 --checkpoint-action=exec='curl x' .",
    "tar --checkpoint-action 'exec=curl x' -cf a.tar .",
    "tar -I 'curl x' -xf a.tar",
  ],
  ...[
    "tar --use-compress-program='curl x' -xf a",
    "tar -xf a --use-comp 'curl x'",
    "tar -xf a --to-command='curl x'",
    "tar cIf 'curl x' a.tar .",
  ],
  ...["tar -cf a -F 'curl x' .", "tar --rsh-command='curl x' -xf h:a", "zip a.zip b -T -TT 'curl x'"],
  ...[
    "rsync -e 'curl x' a h:b",
    "rsync --rsh='curl x' a h:b",
    "rsync -ae 'curl x' a h:b",
    "rsync --rsync-path='curl x' a h:b",
    "RSYNC_RSH='curl x' rsync a h:b",
  ],
  ...["scp -S curl a h:b", "sftp -S curl h", "sftp -D 'curl x' h", "scp -o ProxyCommand='curl x' a h:b"],
  ...[
    "ssh -o ProxyCommand='curl x' h",
    "ssh -oProxyCommand='curl x' h",
    "ssh -o 'proxycommand curl x' h",
    "ssh -o PermitLocalCommand=yes -o LocalCommand='curl x' h",
  ],
  ...[
    "ssh -o KnownHostsCommand='curl x' h",
    "gdb --args curl x",
    "gdb -batch -ex run --args curl x",
    "gdb -batch -ex 'shell curl x'",
    "gdb -ex '!curl x'",
  ],
  ...["lldb -- curl x", "lldb -o 'platform shell curl x'"],
  ...["echo curl x | at now", "at now <<< 'curl x'", "batch <<< 'curl x'", "echo 'curl x' | batch", "at now <<EOF\ncurl x\nEOF"],
  ...[
    "tmux new -d 'curl x'",
    "tmux new-session -d -s n curl x",
    "tmux new -d -s n -- curl x",
    "tmux -L s split-window 'curl x'",
    "tmux run-shell 'curl x'",
  ],
  ...["tmux send-keys 'curl x' Enter", "tmux new -d \\; run-shell 'curl x'", "tmux if-shell true 'run-shell \"curl x\"'"].slice(0, 2),
  ...[
    "screen -dm curl x",
    "screen -dmS n curl x",
    "screen -d -m sh -c 'curl x'",
    "screen -S n -X stuff 'curl x\n'",
    "screen -X exec curl x",
  ],
  ...[
    "/lib64/ld-linux-x86-64.so.2 /usr/bin/curl x",
    "/lib/ld-musl-x86_64.so.1 curl x",
    "ld.so --preload a.so /usr/bin/curl x",
    "/lib/ld64.so.2 curl x",
  ],
  ...["nodemon -x 'curl x'", "nodemon --exec 'curl x' a.js", "nodemon --exec='curl x'", "chokidar '**/*.js' -c 'curl x'"],
  ...["watchexec curl x", "watchexec -e js -- curl x", "watchexec -w src 'curl x'", "onchange 'src/**' -- curl x", "reflex -r x -- curl x"],
  ...[
    "hyperfine 'curl x'",
    "hyperfine -w 3 ls 'curl x'",
    "hyperfine --prepare 'curl x' ls",
    "hyperfine --setup='curl x' ls",
    "concurrently 'ls' 'curl x'",
  ],
  ...[
    "conda run -n env curl x",
    "conda run --no-capture-output curl x",
    "mamba run curl x",
    "micromamba run -p d curl x",
    "pixi run curl x",
  ],
  ...[
    "nix-shell --run 'curl x'",
    "nix-shell -p a --command 'curl x'",
    "nix shell nixpkgs#a -c curl x",
    "nix develop --command curl x",
    "guix shell a -- curl x",
  ],
  ...[
    "expect -c 'spawn curl x'",
    "expect -c 'exec curl x'",
    "expect -c 'set t 5; spawn -noecho curl x; expect eof'",
    "expect -c 'system \"curl x\"'",
  ].slice(0, 3),
  ...[
    "sed '1e curl x' a",
    "sed -n '$e curl x' a",
    "sed -e '/a/e curl x' b",
    "sed 's/.*/curl x/e' a",
    "sed 's|a|curl x|ge' a",
    "sed 'e curl x' a",
    "sed '1{e curl x\n}' a",
  ],
  ...[
    "awk 'BEGIN { system(\"curl x\") }'",
    "gawk 'BEGIN{\"curl x\" | getline}'",
    "awk '{ print | \"curl x\" }' a",
    "mawk 'BEGIN { print |& \"curl x\" }'",
  ],
  ...[
    "python3 -c 'import os; os.system(\"curl x\")'",
    "python3 -c \"import subprocess; subprocess.run(['curl', 'x'])\"",
    "perl -e 'system(\"curl x\")'",
  ],
  ...[
    "perl -e 'exec \"curl x\"'",
    "ruby -e 'system(\"curl x\")'",
    'node -e \'require("child_process").execSync("curl x")\'',
    "php -r 'shell_exec(\"curl x\");'",
  ],
  ...[
    "perl -e 'print `curl x`'",
    "cross-env A=1 curl x",
    "dotenv -e .env -- curl x",
    "env-cmd -f a curl x",
    "op run -- curl x",
    "doppler run --command='curl x'",
  ],
  ...["aws-vault exec p -- curl x", "rbenv exec curl x", "sops exec-env f 'curl x'", "sops exec-file f 'curl x'"],
  ...[
    "ssh -4voProxyCommand='curl x' h",
    "gdb --ex='shell curl x'",
    "gdb --eval-command='!curl x'",
    "gdb -ex run curl",
    "perf trace curl x",
  ],
  ...["gdb -ex 'python import os; os.system(\"curl x\")'", "tmux if true 'run \"curl x\"'", "hyperfine --cleanup=curl ls"],
  ...["expect -c 'open \"|curl x\"'", "expect <<< 'spawn curl x'", "tclsh <<< 'exec curl x'"],
  ...[
    "sed -n '1ecurl x' a",
    "sed -f - a <<< '1e curl x'",
    "sed -ne'1e curl x' a",
    "sed --expression='s/a/curl x/ge' b",
    "sed '/e/,$!e curl x' a",
  ],
  ...[
    "awk -f - <<< 'BEGIN{system(\"curl x\")}'",
    "python3 <<< 'import os; os.system(\"curl x\")'",
    "python3.12 -c 'import os; os.system(\"curl x\")'",
  ],
  ...[
    "python3 -c 'os.system(r\"curl x\")'",
    'python3 -c \'subprocess.run(args=["curl", "x"])\'',
    'python3 -c \'subprocess.call(("curl", "x"))\'',
  ],
  ...[
    "python3 -c 'os.posix_spawn(\"/usr/bin/curl\", [], {})'",
    "python3 -c 'os.system(\"curl x # it'\\''s\")'",
    "perl -e 'system(q{curl x})'",
  ],
  ...[
    "perl -e 'exec qw/curl x/'",
    "perl -e 'open(F, \"curl x|\")'",
    "ruby -e '%x(curl x)'",
    "ruby -e 'open(\"|curl x\")'",
    "lua -e 'os.execute[[curl x]]'",
  ],
  ...["node -e 'require(\"child_process\").exec(`curl x`)'", "deno eval 'new Deno.Command(\"curl\")'"],
  ...[
    "vim -c '!curl x' a",
    "vim +'!curl x' a",
    "ex -s a <<< '!curl x'",
    "less '+!curl x' a",
    "emacs --batch --eval '(shell-command \"curl x\")'",
  ],
  ...[
    "psql -c '\\! curl x'",
    "psql -c \"copy t to program 'curl x'\"",
    "sqlite3 a.db '.shell curl x'",
    "mysql -e 'system curl x'",
    "man -P 'curl x' ls",
  ],
  ...[
    "sort --compress-program=curl a",
    "split --filter='curl x' a",
    "rg --pre curl x",
    "bat --pager='curl x' a",
    "fzf --preview 'curl {}'",
  ],
  ...[
    "fzf --bind 'enter:execute(curl {})'",
    "go test -exec 'curl x' ./...",
    "go build -toolexec='curl x'",
    "ncat --sh-exec 'curl x' h 1",
    "nc -e curl h 1",
  ],
  ...["socat - EXEC:'curl x',pty", "apt-get -o DPkg::Pre-Invoke::='curl x' install a", "zip -TTcurl a b -T", "fd --exec=curl", "fd -xcurl"],
  ...[
    "pwsh -Command curl x",
    "cmd /c curl x",
    "nu -c 'curl x'",
    "bwrap --bind / / curl x",
    "setuidgid u curl x",
    "fish --init-command='curl x'",
  ],
  ...["git clone 'ext::curl x'", "git send-email --to-cmd='curl x' a", "git -c imap.tunnel='curl x' imap-send"],
  ...[
    "TAR_OPTIONS='--to-command=curl' tar xf a",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0='curl x' git status",
  ],
  ...["GIT_CONFIG_PARAMETERS=\"'core.fsmonitor=curl x'\" git status", "export TAR_OPTIONS='-I curl'"],
];
for (const text of HIDDEN) test(`a deny sees through ${text}`, () => assert.equal(broadly("curl", text), "yes"));
for (const text of HIDDEN)
  test(`a deny sees through ${text} with another program around it`, () => assert.notEqual(broadly("curl", `env ${text}`), "no"));

/** Neighbors of these in which the name is data. */
const NOT_HIDDEN: readonly string[] = [
  ...[
    "tar -cf curl.tar .",
    "tar -xf a.tar -C curl",
    "tar --checkpoint-action=dot -cf a .",
    "tar -czf curl x",
    "rsync -a curl h:b",
    "rsync --exclude curl a b",
  ],
  ...[
    "scp curl h:x",
    "scp -i curl a h:b",
    "ssh -i curl h",
    "ssh -o User=curl h",
    "ssh -L 1:curl:2 h",
    "at -l",
    "atq",
    "nodemon -w curl a.js",
  ],
  ...[
    "nix-shell -p curl",
    "sed 's/curl/x/' a",
    "sed -n '/curl x/p' a",
    "sed 's/e curl/x/g' curl",
    "awk '/curl/ { print }' a",
    "awk '{ print \"curl x\" }' a",
  ],
  ...[
    "python3 -c 'print(\"curl x\")'",
    "python3 curl.py",
    "perl -ne 'print if /curl x/' a",
    "node curl.js",
    "conda install curl",
    "zip curl.zip a",
  ],
  ...["sed 's/e curl //' a", "sed 's/name/e curl x/' a", "sed '/e curl x/d' a", "sed '1a e curl x' a", "node -e 'console.log(`curl x`)'"],
  ...[
    "node -e '/a/.exec(\"curl x\")'",
    "tmux attach -t curl",
    "tmux new -s curl",
    "screen -r curl",
    "screen -S curl",
    "pm2 start app.js --name curl",
  ],
  ...[
    "sort -t curl a",
    "rg -e curl",
    "go test -run curl",
    "man curl",
    "vim curl",
    "psql -c 'select 1 != 2'",
    "apt-get install curl",
    "fzf -q curl",
  ],
];
for (const text of NOT_HIDDEN) test(`a deny does not reach into ${text}`, () => assert.equal(broadly("curl", text), "no"));

/** Texts of other languages that no shell could read. */
const NO_SCRIPTS: readonly string[] = [
  "python3 <<'EOF'\nrun(\"don't\")\nEOF",
  "python3 -c 'cur.execute(\"CREATE TABLE t (a int)\")'",
  "python3 -c 'run(\"a (b\")'",
  'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0="It\'s me" git log',
];
for (const text of NO_SCRIPTS) test(`there is no doubt about ${text}`, () => assert.equal(broadly("curl", text), "no"));

/** Programs whose arguments stand apart from their name. */
const APART: readonly string[] = [
  'node -e \'require("child_process").spawnSync("git", ["push"])\'',
  'node -e \'require("child_process").execFile("git", ["push", "origin"], () => {})\'',
  'bun -e \'Bun.spawn(["git", "push"])\'',
  'deno eval \'new Deno.Command("git", { args: ["push"] })\'',
  'python3 -c \'os.execvp("git", ["git", "push"])\'',
  'python3 -c \'os.spawnlp(os.P_WAIT, "git", "git", "push")\'',
  'perl -e \'system "git", "push"\'',
  "ruby -e 'exec %q(git push)'",
  "nvim --headless -c 'lua os.execute(\"git push\")'",
  "git rebase -ix 'git push' main",
  "git difftool -yx 'git push'",
  "git difftool -yx'git push'",
];
for (const text of APART) test(`a deny of git push sees through ${text}`, () => assert.equal(broadly("git push", text), "yes"));
const NOT_APART: readonly string[] = [
  'node -e \'require("child_process").spawnSync("git", ["status"]); console.log("push")\'',
  "git rebase -i main",
  "git difftool -y main",
];
for (const text of NOT_APART) test(`a deny of git push does not reach into ${text}`, () => assert.equal(broadly("git push", text), "no"));

test("a module that python runs is a command", () => assert.equal(broadly("pip install", "python3 -m pip install x"), "yes"));

/** Where the last command of a line runs, as its wrapper says; `?`: unknown. */
const MOVED: readonly (readonly [text: string, directory: string | undefined])[] = [
  ["env -C d tee x", "d"],
  ["env -iC d tee x", "d"],
  ["env -Cd tee x", "d"],
  ["env --chdir=d tee x", "d"],
  ["env --chdir d A=1 tee x", "d"],
  ["env -S '-C d tee x'", "d"],
  ["env -C d -S 'tee x'", undefined],
  ["env -C $D tee x", "?"],
  ["env -C d/.. tee x", "?"],
  ["env -C a -C b tee x", "?"],
  ["sudo -D d tee x", "d"],
  ["sudo --chdir=d -u root tee x", "d"],
  ["sudo -R d tee x", "d"],
  ["sudo -i tee x", "?"],
  ["su - root -c 'tee x'", "?"],
  ["runuser -l root -c 'tee x'", "?"],
  ["unshare --wd=d tee x", "d"],
  ["unshare -R d tee x", "d"],
  ["nsenter -t 1 --wd=d tee x", "d"],
  ["nsenter -t 1 -w tee x", "?"],
  ["nsenter -t 1 -m tee x", "?"],
  ["chroot d tee x", "?"],
  ["pkexec tee x", "?"],
  ["systemd-run --working-directory=d tee x", "?"],
  ["parallel --wd d tee ::: x", "d"],
  ["parallel --workdir d ::: 'tee x'", "d"],
  ["find . -execdir tee x \\;", "?"],
  ["find . -okdir tee x \\;", "?"],
  ["fd --base-directory d -x tee x", "?"],
  ["git submodule foreach 'tee x'", "?"],
  ["git -C d -c alias.y='!tee x' y", "?"],
  ["pnpm -C d exec tee x", "?"],
  ["npm exec --prefix=d tee x", "d"],
  ["uv run --directory d tee x", "d"],
  ["nice tee x", undefined],
  ["env A=1 tee x", undefined],
  ["env - tee x", undefined],
  ["sudo -s tee x", undefined],
  ["su root -c 'tee x'", undefined],
  ["find . -exec tee x \\;", undefined],
  ["git -c alias.y='!tee x' y", undefined],
  ["env -C d true; tee x", undefined],
  ["env -C d nice tee x", undefined],
];
for (const [text, directory] of MOVED) {
  test(`a wrapper may change the directory first: ${text}`, () => {
    const moved = walkBash(text).commands.at(-1)?.movedTo;
    assert.equal(moved?.dynamic ? "?" : moved?.text, directory);
  });
}

test("a substitution among a wrapper's words runs before the directory changes, one in its script after that", () => {
  const movedTo = (text: string): unknown => walkBash(text).commands.find(({ argv }) => argv[0]?.text === "tee")?.movedTo?.text;
  assert.equal(movedTo("env -C d ls $(tee x)"), undefined);
  assert.equal(movedTo("sudo -D d -c 'a; ls $(tee x)'"), "d");
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MatchAnswer } from "../../../src/shell/walk/seen-command.ts";
import { walkBash } from "../../../src/shell/walk/walk.ts";
import { broadly } from "../match/broadly.ts";

/** Options are separated by blanks; `operands` stand before the command. */
type Row = readonly [name: string, operands: number, values: string, flags: string, scripts: string, inert: string];

const ROWS: readonly Row[] = [
  ["command", 0, "", "-p", "", "-v -V"],
  ["builtin", 0, "", "", "", ""],
  ["exec", 0, "-a", "-c -l", "", ""],
  ["nohup", 0, "", "", "", ""],
  ["setsid", 0, "", "-c -f -w --ctty --fork --wait", "", ""],
  ["time", 0, "-f -o --format --output", "-a -p -q -v --append --portability --quiet --verbose", "", ""],
  ["doas", 0, "-a -C -u", "-n -s", "", "-L"],
  ["chronic", 0, "", "-v -e", "", ""],
  ["caffeinate", 0, "-t -w", "-d -i -m -s -u", "", ""],
  [
    "env",
    0,
    "-u --unset -C --chdir",
    "- -i --ignore-environment -0 --null -v --debug --list-signal-handling --block-signal --default-signal --ignore-signal",
    "",
    "",
  ],
  [
    "sudo",
    0,
    "-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -R --chroot -T --command-timeout -r --role -t --type -U --other-user",
    "-A -b -B -E -H -i -k -K -n -N -P -S -s --askpass --background --bell --set-home --login --reset-timestamp --non-interactive --no-update --preserve-groups --stdin --shell --preserve-env",
    "-c",
    "-l -v -V -e --list --validate --version --edit",
  ],
  [
    "runuser",
    0,
    "-u --user -g --group -G --supp-group -s --shell -w --whitelist-environment",
    "- -f -l -m -p -P -T --fast --login --preserve-environment --pty --no-pty",
    "-c --command --session-command",
    "",
  ],
  [
    "su",
    0,
    "-g --group -G --supp-group -s --shell -w --whitelist-environment",
    "- -f -l -m -p -P -T --fast --login --preserve-environment --pty --no-pty",
    "-c --command --session-command",
    "",
  ],
  ["nice", 0, "-n --adjustment", "", "", ""],
  ["ionice", 0, "-c --class -n --classdata -p --pid -P --pgid -u --uid", "-t --ignore", "", ""],
  [
    "chrt",
    1,
    "-T --sched-runtime -P --sched-period -D --sched-deadline",
    "-a -b -d -f -i -o -r -R -v --all-tasks --batch --deadline --fifo --idle --other --rr --reset-on-fork --verbose",
    "",
    "-m -p --max --pid",
  ],
  ["taskset", 1, "", "-a -c --all-tasks --cpu-list", "", "-p --pid"],
  ["stdbuf", 0, "-i --input -o --output -e --error", "", "", ""],
  ["timeout", 1, "-k --kill-after -s --signal", "-f -p -v --foreground --preserve-status --verbose", "", ""],
  [
    "flock",
    1,
    "-w --wait --timeout -E --conflict-exit-code",
    "-e -F -n -o -s -u -v -x --close --exclusive --fcntl --nb --no-fork --nonblock --shared --unlock --verbose",
    "-c --command",
    "",
  ],
  [
    "unshare",
    0,
    "-R --root -w --wd -S --setuid -G --setgid --map-user --map-users --map-group --map-groups --setgroups --propagation --monotonic --boottime -l --load-interp",
    "-f -r -c --fork --keep-caps --map-root-user --map-current-user --map-auto -m -u -i -n -p -U -C -T --mount --uts --ipc --net --pid --user --cgroup --time --mount-proc --mount-binfmt --kill-child",
    "",
    "",
  ],
  [
    "nsenter",
    0,
    "-t --target -S --setuid -G --setgid -N --net-socket",
    "-a -c -e -F -Z --all --env --follow-context --no-fork --preserve-credentials --join-cgroup --user-parent -m -u -i -n -p -U -C -T -r -w -W --mount --uts --ipc --net --pid --user --cgroup --time --root --wd --wdns",
    "",
    "",
  ],
  ["chroot", 1, "--groups --userspec", "--skip-chdir", "", ""],
  [
    "watch",
    0,
    "-n --interval -q --equexit -s --shotsdir",
    "-b -c -C -e -f -g -p -r -t -w -x --beep --color --no-color --errexit --follow --chgexit --precise --no-rerun --no-title --no-wrap --exec -d --differences",
    "",
    "",
  ],
  [
    "script",
    1,
    "-B --log-io -E --echo -I --log-in -O --log-out -T --log-timing -m --logging-format -o --output-limit -t -F",
    "-a -d -e -f -k -p -q -r --append --flush --force --quiet --return",
    "-c --command",
    "",
  ],
  [
    "strace",
    0,
    "-a -b -e -E -I -o -O -p -P -s -S -u -U -X --columns --env --output --attach --string-limit --user --trace --trace-path",
    "-c -C -d -D -DD -DDD -f -ff -F -i -k -n -N -q -qq -r -t -tt -ttt -T -v -V -w -x -xx -y -yy -Y -z -Z --follow-forks --summary --summary-only",
    "",
    "",
  ],
  ["ltrace", 0, "-a -A -D -e -F -l -n -o -p -s -u -w -x", "-b -c -C -f -i -L -r -S -t -tt -ttt -T", "", ""],
  ["entr", 0, "", "-a -c -d -n -p -r -x -z", "", ""],
  ["sg", 1, "", "", "-c", ""],
  ["pkexec", 0, "--user", "--disable-internal-agent --keep-cwd", "", ""],
  ["fakeroot", 0, "-l --lib --faked -s -i -b", "-u --unknown-is-real", "", ""],
  ["systemd-run", 0, "", "", "", ""],
  ["setarch", 1, "", "", "", ""],
  ["linux32", 0, "", "", "", ""],
  ["linux64", 0, "", "", "", ""],
  ["prlimit", 0, "", "", "", ""],
  ["setpriv", 0, "", "", "", ""],
  ["numactl", 0, "", "", "", ""],
  ["firejail", 0, "", "", "", ""],
  ["proot", 0, "", "", "", ""],
  ["xvfb-run", 0, "", "", "", ""],
  ["dbus-run-session", 0, "", "", "", ""],
  ["dbus-launch", 0, "", "", "", ""],
  ["ssh-agent", 0, "", "", "", ""],
  ["valgrind", 0, "", "", "", ""],
  ["rlwrap", 0, "", "", "", ""],
  ["unbuffer", 0, "", "", "", ""],
  ["eatmydata", 0, "", "", "", ""],
  ["faketime", 1, "", "", "", ""],
  ["torsocks", 0, "", "", "", ""],
  ["torify", 0, "", "", "", ""],
  ["proxychains", 0, "", "", "", ""],
  ["proxychains4", 0, "", "", "", ""],
  ["gosu", 1, "", "", "", ""],
  ["su-exec", 1, "", "", "", ""],
  ["tini", 0, "", "", "", ""],
  ["dumb-init", 0, "", "", "", ""],
  ["busybox", 0, "", "", "", "--list --list-full --help --install"],
  ["toybox", 0, "", "", "", "--help --long --list"],
  [
    "npx",
    0,
    "-p --package -w --workspace --prefix --registry --cache --userconfig --loglevel --script-shell",
    "-y -n -q --yes --no --no-install --quiet --ignore-existing --workspaces --include-workspace-root --offline --prefer-offline --prefer-online",
    "-c --call",
    "",
  ],
  ["pnpx", 0, "-p --package --allow-build --reporter -C --dir -F --filter", "-q --quiet --silent -s", "", ""],
  ["bunx", 0, "-p --package", "--bun --verbose --silent --no-install", "", ""],
  [
    "uvx",
    0,
    "--from --with --with-editable --with-requirements -p --python --index --index-url --default-index --extra-index-url --directory --project --env-file --extra --group --package -w -i -f --find-links",
    "-q -v -n -U --quiet --verbose --isolated --no-cache --offline --refresh --upgrade --frozen --locked --no-sync --no-project --active --all-extras --dev --no-dev",
    "",
    "",
  ],
  [
    "npm exec",
    0,
    "-p --package -w --workspace --prefix --registry --cache --userconfig --loglevel --script-shell",
    "-y -n -q --yes --no --no-install --quiet --ignore-existing --workspaces --include-workspace-root --offline --prefer-offline --prefer-online",
    "-c --call",
    "",
  ],
  [
    "npm x",
    0,
    "-p --package -w --workspace --prefix --registry --cache --userconfig --loglevel --script-shell",
    "-y -n -q --yes --no --no-install --quiet --ignore-existing --workspaces --include-workspace-root --offline --prefer-offline --prefer-online",
    "-c --call",
    "",
  ],
  ["pnpm dlx", 0, "-p --package --allow-build --reporter -C --dir -F --filter", "-q --quiet --silent -s", "", ""],
  ["pnpm exec", 0, "-p --package --allow-build --reporter -C --dir -F --filter", "-q --quiet --silent -s", "", ""],
  ["yarn dlx", 0, "-p --package --allow-build --reporter -C --dir -F --filter", "-q --quiet --silent -s", "", ""],
  ["yarn exec", 0, "", "", "", ""],
  ["bun x", 0, "-p --package", "--bun --verbose --silent --no-install", "", ""],
  ["pipx run", 0, "--spec --python --pip-args --index-url -i", "-q -v --no-cache --pypackages --quiet --verbose", "", ""],
  [
    "uv tool run",
    0,
    "--from --with --with-editable --with-requirements -p --python --index --index-url --default-index --extra-index-url --directory --project --env-file --extra --group --package -w -i -f --find-links",
    "-q -v -n -U --quiet --verbose --isolated --no-cache --offline --refresh --upgrade --frozen --locked --no-sync --no-project --active --all-extras --dev --no-dev",
    "",
    "",
  ],
  [
    "uv run",
    0,
    "--from --with --with-editable --with-requirements -p --python --index --index-url --default-index --extra-index-url --directory --project --env-file --extra --group --package -w -i -f --find-links",
    "-q -v -n -U --quiet --verbose --isolated --no-cache --offline --refresh --upgrade --frozen --locked --no-sync --no-project --active --all-extras --dev --no-dev",
    "",
    "",
  ],
  ["poetry run", 0, "", "", "", ""],
  ["pipenv run", 0, "", "", "", ""],
  ["bundle exec", 0, "", "", "", ""],
  ["direnv exec", 1, "", "", "", ""],
  ["mise exec", 0, "", "", "-c --command", ""],
  ["mise x", 0, "", "", "-c --command", ""],
  ["perf stat", 0, "", "", "", ""],
  ["perf record", 0, "", "", "", ""],
];

const listed = (text: string): readonly string[] => text.split(" ").filter((part) => part !== "");

/** What a line runs beside its first command. */
const inside = (text: string): readonly string[] =>
  walkBash(text)
    .commands.slice(1)
    .map(({ argv }) => argv.map((word) => word.text).join(" "));

describe("only the command after a wrapper's options is found", () => {
  for (const [name, operands, values, flags, scripts, inert] of ROWS) {
    const command = name === "su" ? undefined : `${"op ".repeat(operands)}curl x`;
    if (command !== undefined) {
      test(name, () => {
        assert.deepEqual(inside(`\\${name} ${command}`), ["curl x"]);
        for (const option of listed(values)) assert.deepEqual(inside(`\\${name} ${option} v ${command}`), ["curl x"], option);
        for (const option of listed(flags)) assert.deepEqual(inside(`\\${name} ${option} ${command}`), ["curl x"], option);
      });
    }
    for (const option of listed(scripts))
      test(`${name} ${option}: its text is searched`, () => assert.deepEqual(inside(`\\${name} ${option} 'curl x'`), ["curl x"]));
    for (const option of listed(inert))
      test(`${name} ${option}: nothing is run`, () => assert.deepEqual(inside(`\\${name} ${option} curl x`), []));
  }
});

describe("texts that git runs", () => {
  const OPTIONS: Readonly<Record<string, string>> = {
    rebase: "-x --exec --exe",
    difftool: "-x --extcmd",
    "filter-branch": "--env-filter --tree-filter --msg-filter",
    grep: "-O --open-files-in-pager",
    fetch: "--upload-pack",
    pull: "--upload-pack",
    clone: "-u --upload-pack",
    "ls-remote": "--upload-pack --exec",
    "fetch-pack": "--upload-pack --exec",
    push: "--receive-pack --exec",
    "send-pack": "--receive-pack --exec",
    archive: "--exec",
  };
  for (const [sub, options] of Object.entries(OPTIONS)) {
    for (const option of listed(options)) {
      test(`git ${sub} ${option}`, () => {
        assert.deepEqual(inside(`git ${sub} ${option} 'curl x'`), ["curl x"]);
        assert.deepEqual(inside(`git ${sub} ${option}${option.startsWith("--") ? "=" : ""}'curl x'`), ["curl x"]);
        assert.deepEqual(inside(`git ${option} 'curl x' ${sub}`), [], "before the subcommand it is none of its options");
      });
    }
  }

  const ROWS: readonly (readonly [text: string, found: readonly string[]])[] = [
    ["git -c alias.y='!curl x' y", ["curl x"]],
    ["git -c alias.y='log -5' y", ["git log -5"]],
    ["git -c ALIAS.y='!curl x' y", ["curl x"]],
    ["git -c Core.Pager='curl x' log", ["curl x"]],
    ["git -c user.name='curl x' log", []],
    ["git -c core.pager log", []],
    ["git -c", []],
    ["git -c core.pager= log", []],
    ["git -c core.pagerx log", []],
    ["git clone --config core.sshCommand='curl x' a", ["curl x"]],
    ["git clone --config=core.sshCommand='curl x' a", ["curl x"]],
    ["git config core.editor 'curl x'", ["curl x"]],
    ["git config --global core.editor 'curl x'", ["curl x"]],
    ["git config core.editor", []],
    ["git log core.editor 'curl x'", []],
    ["git submodule foreach 'curl x'", ["curl x"]],
    ["git submodule foreach --recursive curl x", ["curl x"]],
    ["git submodule foreach curl '$x'", ["curl $x", "curl $x"]],
    ["git submodule foreach", []],
    ["git foreach submodule 'curl x'", []],
    ["git bisect run curl x", ["curl x"]],
    ["git bisect start curl x", []],
    ["git rebase --e 'curl x'", []],
    ["git rebase -i 'curl x'", []],
  ];
  for (const [text, found] of ROWS) test(text, () => assert.deepEqual(inside(text), found));
});

describe("commands in find and fd actions", () => {
  const ROWS: readonly (readonly [text: string, found: readonly string[]])[] = [
    ["xargs curl x", ["curl x"]],
    ["xargs", []],
    ["xargs -n 1 -P 2 -I % curl %", ["curl %"]],
    ["xargs -i curl {}", ["curl {}"]],
    ["find . -exec curl {} ;", ["curl {}"]],
    ["find . -exec curl {} + -exec wget x ';'", ["curl {}", "wget x"]],
    ["find . -exec curl + x ';'", ["curl + x"]],
    ["find . -execdir curl x", ["curl x"]],
    ["find . -name -exec", []],
    ["find . -name curl", []],
    ...["-exec", "-execdir", "-ok", "-okdir"].map((action) => [`find . ${action} curl x ';'`, ["curl x"]] as const),
    ...["-x", "-X", "--exec", "--exec-batch"].map((action) => [`fd y ${action} curl x`, ["curl x"]] as const),
    ["fdfind y -x curl x", ["curl x"]],
    ["parallel curl ::: x", ["curl"]],
    ["parallel -j 4 'curl {}' ::: x", ["curl {}"]],
    ["parallel ::: 'curl x' 'wget y'", ["curl x", "wget y"]],
    ["parallel ::: 'curl x' :::+ 'wget y' :::: 'wget z'", ["curl x", "wget y", "wget z"]],
  ];
  for (const [text, found] of ROWS) test(text, () => assert.deepEqual(inside(text), found));
});

describe("whether a wrapper runs curl", () => {
  const ROWS: readonly (readonly [sentence: string, text: string, said: MatchAnswer])[] = [
    ["words after the command belong to it", "nice wget $X", "no"],
    ["a word before it may be several", "nice $X wget", "doubt"],
    ["a quoted word before it is one", 'timeout "$X" wget', "no"],
    ["a package runner gets its program from elsewhere", "xargs npm exec", "doubt"],
    ["so does one with no word of its own", "xargs npx", "doubt"],
    ["a shell gets its text from elsewhere", "xargs sh -c", "doubt"],
    ["a shell that has a text reads no other", "echo curl x | sh -c ls", "no"],
    ["unless it is told to", "echo curl x | sh -s -c ls", "yes"],
    ["a shell that has a file reads no other", "echo curl x | sh build.sh", "no"],
    ["a shell without either reads its input", "echo curl x | sh", "yes"],
  ];
  for (const [sentence, text, said] of ROWS) test(`${sentence}: ${text}`, () => assert.equal(broadly("curl", text), said));
});

describe("texts that builtins keep or run", () => {
  const SHELLS = "sh bash dash ash zsh ksh ksh93 mksh rbash yash fish csh tcsh";
  for (const name of listed(SHELLS)) {
    test(name, () => {
      assert.deepEqual(inside(`${name} -c 'curl x'`), ["curl x"]);
      assert.deepEqual(inside(`${name} --command 'curl x'`), ["curl x"]);
      assert.deepEqual(inside(`${name} --version -c 'curl x'`), []);
      for (const flag of listed("- -a -e -f -i -l -u -x --login --norc --posix"))
        assert.deepEqual(inside(`${name} ${flag} -c 'curl x'`), ["curl x"], flag);
    });
  }

  const TEXTS = "mapfile -C|readarray -C|complete -C|complete -F|compgen -C|compgen -F|bind -x|hash -p|fc -e|trap --";
  for (const start of TEXTS.split("|")) test(start, () => assert.deepEqual(inside(`${start} curl y`), ["curl"]));

  const SET =
    "PROMPT_COMMAND PS0 PS1 PS2 PS4 PAGER MANPAGER GIT_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS BROWSER FCEDIT";
  for (const name of listed(SET)) test(`${name}=`, () => assert.deepEqual(inside(`export ${name}='curl x'`), ["curl x"]));
  for (const setter of listed("export declare typeset readonly local"))
    test(`${setter} sets such a variable`, () => assert.deepEqual(inside(`${setter} PAGER='curl x'`), ["curl x"]));
  test("the value of any other variable is not run", () => assert.deepEqual(inside("export NAME='curl x'"), []));

  const EVALUATING = "test [ printf let read mapfile readarray declare typeset local export readonly unset wait getopts";
  for (const name of listed(EVALUATING))
    test(`${name} evaluates subscripts`, () => assert.ok(inside(`${name} 'a[$(curl x)]'`).includes("curl x")));
  test("other commands do not evaluate subscripts", () => assert.deepEqual(inside("env echo 'a[$(curl x)]'"), ["echo a[$(curl x)]"]));
});

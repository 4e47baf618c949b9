import { CHECKED_CALLS, MISSING_CALLS, REFUSED_CALLS } from "../../packages/host/src/sandbox/system-calls.ts";

/**
 * An attempt to get out: a sentence and a script that calls `got` if it succeeds. It opens without writing and connects without sending, except below
 * the workspace. `outside`: the script gets through without a sandbox, which shows that the attempt is real.
 */
export type Escape = readonly [sentence: string, script: string, control?: "outside"];

/** Shell functions of the attempts. */
export const ESCAPE_TOOLS: string = String.raw`
shows() { cat "$1" 2>/dev/null | grep -q "TOP SECRET" && got "read $1"; }
reads() { perl -MFcntl -e 'sysopen(F, $ARGV[0], O_RDONLY | O_NONBLOCK) || exit 1' "$1" 2>/dev/null && got "opened $1"; }
writes() { perl -MFcntl -e 'sysopen(F, $ARGV[0], O_WRONLY | O_APPEND | O_NONBLOCK) || exit 1' "$1" 2>/dev/null && got "opened $1 for writing"; }
lists() { [ -n "$(ls -A "$1" 2>/dev/null)" ] && got "listed $1"; }
unix() { perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un($ARGV[0])) || exit 1' "$1" 2>/dev/null && got "connected to $1"; }
abstract() { perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un("\0$ARGV[0]")) || exit 1' "$1" 2>/dev/null && got "connected to @$1"; }
tcp() { perl -MSocket -e 'socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($ARGV[1], inet_aton($ARGV[0]))) || exit 1' "$1" "$2" 2>/dev/null && got "connected to $1 $2"; }
family() { perl -e 'socket(S, $ARGV[0], $ARGV[1], $ARGV[2]) || exit 1' "$@" 2>/dev/null && got "socket family $1"; }
syscall() { perl -e '$r = syscall($ARGV[0] + 0, map { /^-?\d+$/ ? $_ + 0 : $_ } @ARGV[1..$#ARGV]); exit($r == -1 ? 1 : 0)' "$@" 2>/dev/null && got "system call $1"; }
renames() { perl -e 'exit(rename($ARGV[0], $ARGV[1]) ? 0 : 1)' "$1" "$2" && got "renamed $1"; }
works() { "$@" >/dev/null 2>&1 && got "$*"; }
`;

const column = process.arch === "arm64" ? 1 : 0;
const number = (name: string): number => ({ ...REFUSED_CALLS, ...MISSING_CALLS, ...CHECKED_CALLS })[name]?.[column] ?? -1;

const FILES: readonly Escape[] = [
  ["a file beside the workspace, by ..", "shows ../outside/secret", "outside"],
  ["a file outside, by its absolute path", 'shows "$OUTSIDE/secret"', "outside"],
  ["a file outside, through a link in the workspace", "shows secret-link", "outside"],
  ["a file outside, through a link to its directory", "shows outside-link/secret", "outside"],
  ["a file outside for writing, through a link", "writes secret-link", "outside"],
  ["a file outside, through a link that the command makes", 'ln -sf "$OUTSIDE/secret" made; shows made; rm -f made', "outside"],
  ["a hard link to a file outside", 'ln "$OUTSIDE/secret" made 2>/dev/null && got linked; rm -f made', "outside"],
  ["the root of the first process", 'shows "/proc/1/root$OUTSIDE/secret"'],
  ["the root of any process", 'for p in /proc/[0-9]*; do shows "$p/root$OUTSIDE/secret"; done', "outside"],
  [
    "the directory of any process",
    'for p in /proc/[0-9]*; do shows "$p/cwd/../outside/secret"; shows "$p/cwd$OUTSIDE/secret"; done',
    "outside",
  ],
  ["above the root of the own process", 'shows "/proc/self/root/../..$OUTSIDE/secret"', "outside"],
  [
    "descriptors of any process",
    'for f in /proc/[0-9]*/fd/*; do [ -d "$f/" ] && lists "$f/../../../../../../../../boot"; shows "$f$OUTSIDE/secret"; done',
  ],
  [
    "an inherited descriptor",
    'for f in /proc/self/fd/*; do case "$(readlink "$f")" in /proc/*) ;; *) [ -d "$f/." ] && got "$f";; esac; done',
  ],
  ["the environment of the first process", "tr '\\0' '\\n' < /proc/1/environ 2>/dev/null | grep -q . && got environment"],
  [
    "a first process with more rights, whose memory could be changed",
    "grep -E '^(CapPrm|CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/1/status > one; grep -E '^(CapPrm|CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | diff -q - one >/dev/null || got rights; rm -f one",
  ],
  [
    "an overlay of mounts in /proc/self/mountinfo names nothing outside but what is shown",
    'grep -q " $OUTSIDE " /proc/self/mountinfo && got mount',
  ],
  ["the keys of ssh", "shows ~/.ssh/id_ed25519", "outside"],
  ["the keys of gpg", "shows ~/.gnupg/key", "outside"],
  ["the credentials of AWS", "shows ~/.aws/credentials", "outside"],
  ["the credentials of npm", "shows ~/.npmrc", "outside"],
  ["the credentials of netrc", "shows ~/.netrc", "outside"],
  ["the credentials of docker", "shows ~/.docker/config.json", "outside"],
  ["the credentials of kubectl", "shows ~/.kube/config", "outside"],
  ["the credentials of gh", "shows ~/.config/gh/hosts.yml", "outside"],
  ["the credentials of git", "shows ~/.git-credentials; shows ~/.config/git/credentials", "outside"],
  ["credentials inside a visible toolchain", "shows ~/.cargo/credentials.toml", "outside"],
  ["the history of the shell", "shows ~/.bash_history", "outside"],
  ["another file of the home directory", "shows ~/documents/letter", "outside"],
  ["the start file of the shell", "echo evil >> ~/.bashrc; echo evil > ~/.profile"],
  ["a program of a visible toolchain, for writing", "writes ~/.cargo/bin/tool", "outside"],
  ["the settings of git, for writing", "writes ~/.gitconfig", "outside"],
  ["the shadow file", "reads /etc/shadow; [ -e /etc/shadow ] && got exists"],
  ["private keys of the system", "lists /etc/ssl/private; lists /etc/ssh"],
  ["the user list, for writing", "writes /etc/passwd"],
  ["scheduled jobs", "[ -e /etc/crontab ] && got crontab; lists /etc/cron.d; lists /var/spool"],
  ["programs of the system, for writing", "writes /usr/bin/env; [ -w /usr/bin ] && got writable"],
  ["new files in the root directory", "touch /made 2>/dev/null && got made; mkdir /made-too 2>/dev/null && got made"],
  ["/var", "lists /var/log; lists /var/lib; lists /var/cache"],
  ["/run", "lists /run"],
  ["/sys", "lists /sys"],
  ["/boot, /mnt, /media, /srv and /root", "for d in /boot /mnt /media /srv /root /lost+found; do lists $d; done"],
  ["the home directories of others", "lists /home"],
  ["files of others in /tmp", 'lists "/tmp/outside"; ls /tmp | grep -qv "^assent-escape" && got files'],
  ["the directory of the first process", 'lists "/proc/1/cwd$OUTSIDE"; shows "/proc/1/cwd$OUTSIDE/secret"'],
  ["options of the sandbox", 'tr "\\0" " " < /proc/1/cmdline | grep -qE -- "--(ro-)?bind" && got options'],
  [
    "a file outside, by exchanging a directory for a link while it is read",
    `mkdir -p race/d; ln -s "$OUTSIDE" race/l; for i in $(seq 50); do perl -e '($a, $b) = ("race/d", "race/l"); syscall(${process.arch === "arm64" ? 276 : 316}, -100, $a, -100, $b, 2)'; shows race/d/secret; done; rm -rf race`,
    "outside",
  ],
  ["memory of the kernel by page", "reads /proc/kpagecount; reads /proc/kpageflags; reads /proc/kpagecgroup"],
  ["queues of messages", "lists /dev/mqueue; ipcs -a 2>/dev/null | grep -qE '^0x' && got queue"],
  [
    "devices other than the listed ones",
    'for d in $(ls /dev); do case $d in null|zero|full|random|urandom|tty|ptmx|pts|shm|fd|std*|core) ;; *) got "$d" ;; esac; done',
    "outside",
  ],
  ["shared memory of others", "lists /dev/shm"],
];

const DEVICES: readonly Escape[] = [
  ["disks", "for d in /dev/sd* /dev/vd* /dev/nvme* /dev/xvd* /dev/dm-* /dev/loop*; do reads $d; done"],
  ["the memory of the machine", "reads /dev/mem; reads /dev/kmem; reads /dev/port; reads /proc/kcore"],
  ["the log of the kernel", "reads /dev/kmsg; reads /proc/kmsg"],
  ["fuse, kvm and tun", "writes /dev/fuse; writes /dev/kvm; writes /dev/net/tun"],
  ["terminals of others", "for t in /dev/pts/[0-9]* /dev/tty[0-9]* /dev/console; do writes $t; done"],
  ["the controlling terminal", "writes /dev/tty"],
  ["a device node of its own", "mknod made b 8 0 2>/dev/null && got made; mknod made c 1 1 2>/dev/null && got made; rm -f made"],
];

const SERVICES: readonly Escape[] = [
  ["a socket outside", 'unix "$OUTSIDE/socket"', "outside"],
  ["a socket outside, through a link", "unix socket-link", "outside"],
  ["an abstract socket", 'abstract "$ABSTRACT"', "outside"],
  ["a named pipe outside", 'reads "$OUTSIDE/fifo"', "outside"],
  ["a named pipe outside, through a link", "reads fifo-link", "outside"],
  ["a server on the loopback address", 'tcp 127.0.0.1 "$PORT"', "outside"],
  ["a server on another loopback address", 'tcp 127.0.0.2 "$PORT"; tcp 0.0.0.0 "$PORT"'],
  [
    "a server on an address of this machine",
    'for a in $(cat /proc/net/fib_trie | grep -o "[0-9]*\\.[0-9]*\\.[0-9]*\\.[0-9]*" | sort -u); do tcp $a "$PORT"; done',
    "outside",
  ],
  ["a datagram to the loopback address", 'echo x > "/dev/udp/127.0.0.1/$UDP_PORT"'],
  [
    "a public address",
    "timeout 2 bash -c '</dev/tcp/192.0.2.1/80' 2>/dev/null && got connected; timeout 2 bash -c '</dev/tcp/1.1.1.1/53' 2>/dev/null && got connected",
  ],
  ["network interfaces other than loopback", "sed -n '3,$p' /proc/net/dev | grep -qv ' lo:' && got interface"],
  [
    "the docker daemon",
    "unix /var/run/docker.sock; unix /run/docker.sock; unix /run/containerd/containerd.sock; unix /run/podman/podman.sock",
  ],
  ["the ssh agent", 'unix "$SSH_AUTH_SOCK"', "outside"],
  ["the session's D-Bus", 'unix "$(echo "$DBUS_SESSION_BUS_ADDRESS" | sed s/unix:path=//)"', "outside"],
  ["the system's D-Bus", "unix /run/dbus/system_bus_socket; unix /var/run/dbus/system_bus_socket"],
  ["systemd and its journal", "unix /run/systemd/private; unix /run/systemd/journal/stdout; unix /run/systemd/notify"],
  ["the X server", "unix /tmp/.X11-unix/X0; abstract /tmp/.X11-unix/X0"],
  ["sockets of a virtual machine", "family 40 1 0"],
  [
    "services that answer for names and users",
    "unix /run/nscd/socket; unix /run/systemd/resolve/io.systemd.Resolve; unix /run/systemd/userdb/io.systemd.DynamicUser",
  ],
  [
    "agents of the person",
    'unix ~/.gnupg/S.gpg-agent; unix "/run/user/$(id -u)/bus"; unix "/run/user/$(id -u)/gnupg/S.gpg-agent"; unix "/run/user/$(id -u)/wayland-0"',
  ],
  [
    "the log of the system",
    `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_DGRAM, 0); exit(connect(S, pack_sockaddr_un("/dev/log")) ? 0 : 1)' && got connected`,
  ],
  ["names of abstract sockets outside", 'grep -q "@" /proc/net/unix && got names', "outside"],
  [
    "every rare family of sockets",
    "for f in 3 4 5 6 9 21 24 26 27 29 30 31 32 33 34 35 36 37 39 41 42 43 44 45; do for t in 1 2 3; do family $f $t 0; done; done",
  ],
  ["raw packets", "family 17 3 768; family 2 3 1"],
  ["the kernel's crypto sockets", "family 38 5 0"],
];

const KERNEL: readonly Escape[] = [
  ["a mount of its own", "works mount -t tmpfs none /tmp; works mount --bind /tmp /usr"],
  [
    "a writable remount",
    'works mount -o remount,rw /usr; works mount -o remount,bind,rw /; works mount -o remount,bind,rw "$WORKSPACE/.git/hooks"',
  ],
  ["an unmount", 'works umount /proc/sys; works umount -l "$WORKSPACE/.git/hooks"; works umount -l "$WORKSPACE/.assent"'],
  ["a mount by the newer calls", `syscall ${number("fsopen")} tmpfs 0; syscall ${number("open_tree")} -100 / 1`],
  ["a nested user namespace", "works unshare -U true; works unshare -Ur true"],
  ["a nested mount namespace", "works unshare -m true"],
  ["a nested network namespace", "works unshare -n true"],
  ["a user namespace by clone", `syscall ${number("clone")} ${0x10000011} 0 0 0 0`],
  ["a user namespace by clone3", `syscall ${number("clone3")} 0 0`],
  ["the namespaces of the first process", "for n in mnt net pid user; do works nsenter --$n=/proc/1/ns/$n true; done"],
  ["the namespaces of the launcher", 'works nsenter -t "$LAUNCHER" -m true'],
  ["another root directory", 'works chroot "$WORKSPACE" true; works pivot_root . .'],
  [
    "keys of the kernel",
    `syscall ${number("keyctl")} 0 -3 0; syscall ${number("add_key")} user made x 1 -3; syscall ${number("request_key")} user made 0 -3`,
    "outside",
  ],
  ["programs in the kernel", `syscall ${number("bpf")} 0 0 0`],
  ["performance events", `syscall ${number("perf_event_open")} 0 0 -1 -1 0`],
  ["faults of memory in user space", `syscall ${number("userfaultfd")} 1`],
  ["io_uring", `syscall ${number("io_uring_setup")} 1 0`],
  ["tracing its parent", `syscall ${number("ptrace")} 0 0 0 0`, "outside"],
  ["tracing a process outside", `syscall ${number("ptrace")} 16 "$VICTIM" 0 0`],
  ["the memory of a process outside", `syscall ${number("process_vm_readv")} "$VICTIM" 0 0 0 0 0`, "outside"],
  ["a signal to a process outside", 'kill -0 "$VICTIM" 2>/dev/null && got signal', "outside"],
  [
    "a signal to the launcher",
    '[ "$LAUNCHER" != "$$" ] && [ -d "/proc/$LAUNCHER/task" ] && grep -q node "/proc/$LAUNCHER/comm" && got visible',
  ],
  ["the list of processes outside", 'grep -lq "^sleep" /proc/[0-9]*/comm && got listed', "outside"],
  [
    "keys put into a terminal",
    `perl -e 'exit(ioctl(STDIN, 0x5412, "x") ? 0 : $!{EPERM} ? 1 : 0)' && got injected; perl -MErrno -e 'ioctl(STDIN, 0x5412, "x"); exit($!{EPERM} ? 1 : 0)' && got "was not refused"`,
  ],
  ["keys put into a console", `perl -MErrno -e 'ioctl(STDIN, 0x541c, "x"); exit($!{EPERM} ? 1 : 0)' && got "was not refused"`],
  ["more privileges by a setuid program", "grep -q '^NoNewPrivs:.1' /proc/self/status || got privileges", "outside"],
  ["privileges that are left", "grep '^Cap\\(Prm\\|Eff\\|Bnd\\|Amb\\)' /proc/self/status | grep -qv '0000000000000000$' && got privileges"],
  ["the core pattern", "writes /proc/sys/kernel/core_pattern; [ -w /proc/sys/kernel/core_pattern ] && got writable"],
  ["the settings of the kernel", "find /proc/sys -writable 2>/dev/null | grep -q . && got writable"],
  ["the magic key", "writes /proc/sysrq-trigger"],
  [
    "the release agent of a control group",
    "find / -name release_agent -not -path '/proc/*' 2>/dev/null | grep -q . && got found; works mount -t cgroup none /tmp",
  ],
  ["the name of the machine", `works hostname evil; syscall ${number("sethostname")} evil 4`],
  ["the clock", `syscall ${number("settimeofday")} 0 0; works date -s 2001-01-01`],
  [
    "a file by its handle",
    `perl -MErrno -e 'syscall(${number("open_by_handle_at")}, -100, 0, 0); exit($!{EPERM} ? 1 : 0)' && got "was not refused"`,
  ],
  ["modules of the kernel", `syscall ${number("init_module")} 0 0 0; syscall ${number("delete_module")} x 0`],
  [
    "a setuid file, by chmod, as it is created, or without a name",
    `cp /bin/true made; for n in 755 4755; do chmod $n made 2>/dev/null; done; perl -e 'umask 0; sysopen(F, "made-too", 0101, 04755); $p = "made"; syscall(452, -100, $p, 04755, 0); chmod 04755, *F if open(F, "+<", "made")'; for f in made made-too; do [ -u $f ] && got $f; done; rm -f made made-too`,
    "outside",
  ],
  [
    "a file outside by its real handle",
    `perl -e '$h = pack("Ii", 128, 0) . (chr(0) x 128); $m = pack("i", 0); $p = "/"; syscall(${process.arch === "arm64" ? 264 : 303}, -100, $p, $h, $m, 0); exit(syscall(${number("open_by_handle_at")}, -100, $h, 0) >= 0 ? 0 : 1)' && got opened`,
  ],
  [
    "keys put into a terminal, with a number of more than 32 bits",
    `perl -MErrno -e '$x = "x"; syscall(${number("ioctl")}, 0, 0x100005412, $x); exit($!{EPERM} ? 1 : 0)' && got "was not refused"`,
  ],
  [
    "a socket of a virtual machine, with a number of more than 32 bits",
    `perl -e 'exit(syscall(${number("socket")}, 0x100000028, 1, 0) >= 0 ? 0 : 1)' && got socket`,
  ],
  [
    "a process outside by its descriptor",
    `perl -e '$p = syscall(434, $ENV{VICTIM} + 0, 0); exit($p >= 0 ? 0 : 1)' && got opened`,
    "outside",
  ],
  ["a signal to a process outside, by its thread", `syscall ${process.arch === "arm64" ? 131 : 234} "$VICTIM" "$VICTIM" 0`, "outside"],
  [
    "processes without the filter",
    'for p in /proc/[0-9]*/status; do grep -q "^Seccomp:.2" $p || got $p; grep -q "^NoNewPrivs:.1" $p || got $p; done',
    "outside",
  ],
  [
    "a filter whose calls it answers itself",
    `perl -e 'exit(syscall(${process.arch === "arm64" ? 277 : 317}, 1, 8, 0) >= 0 ? 0 : 1)' && got listener`,
  ],
  ["changes of the network", "works ip link add made type dummy; works ip link set lo down; works nft add table made"],
  ["another real-time priority", "works chrt -f 1 true; perl -e 'exit(setpriority(0, 0, -5) ? 0 : 1)' && got priority"],
  ["another kernel", `syscall ${number("kexec_load")} 0 0 0 0`],
  ["the log of the kernel by its call", `syscall ${number("syslog")} 10 0 0`],
];

const CONTROLS: readonly Escape[] = [
  ["a new hook of git", "echo x > .git/hooks/post-commit && got written", "outside"],
  ["an existing hook of git", "echo x >> .git/hooks/pre-commit && got written", "outside"],
  ["the configuration of git", "echo x >> .git/config && got written", "outside"],
  ["the configuration of git, by git", "git config core.hooksPath /tmp && got configured", "outside"],
  ["a configuration of git in its place", "cp .git/config made; mv -f made .git/config && got replaced; rm -f made", "outside"],
  ["hooks moved away", "mv .git/hooks moved && got moved", "outside"],
  ["the repository moved away", "mv .git moved && got moved", "outside"],
  ["the repository exchanged", `mkdir made; syscall ${process.arch === "arm64" ? 276 : 316} -100 .git -100 made 2; rmdir made`, "outside"],
  ["a hard link to the configuration of git", "ln .git/config made && got linked; rm -f made", "outside"],
  ["hooks replaced by a link", "rm -rf .git/hooks; ln -s /tmp .git/hooks 2>/dev/null && [ -L .git/hooks ] && got linked", "outside"],
  ["hooks with other permissions", "chmod 777 .git/hooks && got changed", "outside"],
  ["hooks with another time", "touch -d 2001-01-01 .git/hooks/pre-commit && got changed", "outside"],
  [
    "an unnamed file linked into the hooks",
    `perl -MFcntl -e 'sysopen(F, ".", 020200000 | O_WRONLY, 0755) || exit 2; $from = "/proc/self/fd/" . fileno(F); $to = ".git/hooks/made"; exit(syscall(${process.arch === "arm64" ? 37 : 265}, -100, $from, -100, $to, 0x400) == 0 ? 0 : 1)' && got linked`,
    "outside",
  ],
  [
    "hooks of a submodule",
    "echo x >> .git/modules/part/hooks/post-checkout && got written; echo x >> .git/modules/part/config && got written",
    "outside",
  ],
  ["the configuration of git, through the own root", 'echo x >> "/proc/self/root$WORKSPACE/.git/config" && got written', "outside"],
  ["the configuration of git, through the own directory", "echo x >> /proc/self/cwd/.git/config && got written", "outside"],
  ["Assent's settings", "echo x >> .assent/settings.json && got written", "outside"],
  ["Assent's settings, replaced", "mv .assent moved && got moved; rm -rf .assent/settings.json 2>/dev/null && got removed", "outside"],
  ["a new tool for Assent", "mkdir -p .assent/tools 2>/dev/null && got made", "outside"],
  ["instructions for agents", "echo x >> AGENTS.md && got written; rm -f AGENTS.md 2>/dev/null && got removed", "outside"],
  ["instructions for agents, through a link to them", "echo x >> CLAUDE.md && got written", "outside"],
  ["instructions on the way to the working directory", "echo x >> sub/AGENTS.md && got written; mv sub moved && got moved", "outside"],
  [
    "hooks of a submodule in a directory",
    "echo x >> .git/modules/libs/deep/hooks/post-checkout && got written; echo x >> .git/modules/libs/deep/config && got written",
    "outside",
  ],
  ["the repository that a worktree belongs to", "echo /tmp > .git/worktrees/other/commondir && got written", "outside"],
  [
    "hooks in a directory that the configuration of git names",
    "echo x >> githooks/pre-push && got written; mv githooks moved && got moved",
    "outside",
  ],
  ["configuration that the configuration of git includes", "echo x >> shared.gitconfig && got written", "outside"],
  ["hooks of a nested repository", "echo x > packages/one/.git/hooks/post-commit && got written", "outside"],
  [
    "the configuration of a nested repository",
    "git -C packages/one config core.fsmonitor evil && got configured; echo x >> packages/one/.git/config && got written",
    "outside",
  ],
  ["a nested repository moved away", "renames packages/one/.git packages/one/moved", "outside"],
  ["a directory above a nested repository moved away", "renames packages moved; renames packages/one packages/two", "outside"],
  ["the configuration of a bare repository", "echo x >> bare/config && got written", "outside"],
  ["instructions elsewhere in the workspace", "echo x >> packages/one/AGENTS.md && got written", "outside"],
  ["a file elsewhere that runs code when a shell enters its directory", "echo x >> packages/one/.envrc && got written", "outside"],
  ["tasks of an editor elsewhere", "echo x >> packages/one/.vscode/tasks.json && got written", "outside"],
  ["Assent's settings elsewhere", "echo x >> packages/one/.assent/settings.json && got written", "outside"],
  ["the configuration of git cut to nothing", `perl -e 'exit(truncate(".git/config", 0) ? 0 : 1)' && got truncated`, "outside"],
  [
    "the configuration of git, through a descriptor that was opened without access",
    `perl -e 'sysopen(F, ".git/config", 010000000); exit(sysopen(G, "/proc/self/fd/" . fileno(F), 1) ? 0 : 1)' && got reopened`,
    "outside",
  ],
  [
    "instructions for agents exchanged for a file",
    `echo x > made; syscall ${process.arch === "arm64" ? 276 : 316} -100 made -100 AGENTS.md 2; rm -f made`,
    "outside",
  ],
  [
    "a directory above read-only files exchanged",
    `mkdir made; syscall ${process.arch === "arm64" ? 276 : 316} -100 made -100 packages 2; rmdir made`,
    "outside",
  ],
  ["a hard link to the configuration of git, in /tmp", "ln .git/config /tmp/made-link 2>/dev/null && got linked; rm -f /tmp/made-link"],
  ["the include of the configuration moved away", "mv shared.gitconfig moved && got moved", "outside"],
  ["workflows", "echo x >> .github/workflows/ci.yml && got written; mv .github moved && got moved", "outside"],
];

/** Every attempt, by topic. */
export const ESCAPES: Readonly<Record<string, readonly Escape[]>> = {
  "a confined command does not reach": [...FILES, ...DEVICES, ...SERVICES],
  "a confined command cannot use": KERNEL,
  "a confined command cannot change": CONTROLS,
};

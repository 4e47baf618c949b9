import { type Program, sameRow } from "../program.ts";

/** Programs that run a command among their words. */
export const WRAPPERS: Readonly<Record<string, Program>> = {
  nohup: { runs: { how: "prefix" }, opaque: true },
  setsid: { runs: { how: "prefix", options: "-c -f -w --ctty --fork --wait" }, opaque: true },
  time: {
    writes: { options: "-o=file --output=file -f= --format=", leads: "" },
    runs: { how: "prefix", options: "-f= -o= --format= --output= -a -p -q -v --append --portability --quiet --verbose" },
    opaque: true,
  },
  doas: { runs: { how: "prefix", options: "-a= -C= -u= -n -s", inert: "-L", shell: true, byOption: true }, opaque: true, sets: true },
  chronic: { runs: { how: "prefix", options: "-v -e" }, opaque: true },
  caffeinate: { runs: { how: "prefix", options: "-t= -w= -d -i -m -s -u" }, opaque: true },
  env: {
    runs: {
      how: "prefix",
      options: `-u= --unset= -C= --chdir= - -i --ignore-environment -0 --null -v --debug --list-signal-handling --block-signal[=] --default-signal[=]
      --ignore-signal[=] -S=words --split-string=words`,
      moves: "-C --chdir",
      assignments: true,
      byOption: true,
    },
    opaque: true,
    sets: true,
  },
  sudo: {
    runs: {
      how: "prefix",
      options: `-u= --user= -g= --group= -h= --host= -p= --prompt= -C= --close-from= -D= --chdir= -R= --chroot= -T= --command-timeout= -r= --role= -t=
      --type= -U= --other-user= -A -b -B -E -H -i -k -K -n -N -P -S -s --askpass --background --bell --set-home --login --reset-timestamp
      --non-interactive --no-update --preserve-groups --stdin --shell --preserve-env[=] -c=script`,
      inert: "-l -v -V -e --list --validate --version --edit",
      moves: "-D --chdir -R --chroot -i --login",
      assignments: true,
      shell: true,
      byOption: true,
    },
    opaque: true,
    sets: true,
  },
  runuser: {
    runs: {
      how: "prefix",
      options: `-u= --user= -g= --group= -G= --supp-group= -s= --shell= -w= --whitelist-environment= - -f -l -m -p -P -T --fast --login
      --preserve-environment --pty --no-pty -c=script --command=script --session-command=script`,
      moves: "- -l --login",
      shell: true,
      permuted: true,
      byOption: true,
    },
    opaque: true,
  },
  su: {
    runs: {
      how: "prefix",
      options: `-g= --group= -G= --supp-group= -s= --shell= -w= --whitelist-environment= - -f -l -m -p -P -T --fast --login --preserve-environment
      --pty --no-pty -c=script --command=script --session-command=script`,
      moves: "- -l --login",
      shell: true,
      permuted: true,
      rest: "nothing",
      byOption: true,
    },
    opaque: true,
  },
  nice: { runs: { how: "prefix", options: "-n= --adjustment= -NUMBER" }, opaque: true },
  ionice: { runs: { how: "prefix", options: "-c= --class= -n= --classdata= -p= --pid= -P= --pgid= -u= --uid= -t --ignore" }, opaque: true },
  chrt: {
    runs: {
      how: "prefix",
      options: `-T= --sched-runtime= -P= --sched-period= -D= --sched-deadline= -a -b -d -f -i -o -r -R -v --all-tasks --batch --deadline --fifo --idle
      --other --rr --reset-on-fork --verbose`,
      inert: "-m -p --max --pid",
      operands: 1,
    },
    opaque: true,
  },
  taskset: { runs: { how: "prefix", options: "-a -c --all-tasks --cpu-list", inert: "-p --pid", operands: 1 }, opaque: true },
  stdbuf: { runs: { how: "prefix", options: "-i= --input= -o= --output= -e= --error=" }, opaque: true },
  timeout: {
    runs: { how: "prefix", options: "-k= --kill-after= -s= --signal= -f -p -v --foreground --preserve-status --verbose", operands: 1 },
    opaque: true,
  },
  flock: {
    writes: { operands: "first", options: "-w= --timeout= -E= --conflict-exit-code= -c= --command=", keeps: true, leads: "" },
    runs: {
      how: "prefix",
      options: `-w= --wait= --timeout= -E= --conflict-exit-code= -e -F -n -o -s -u -v -x --close --exclusive --fcntl --nb --no-fork --nonblock --shared
      --unlock --verbose -c=script --command=script`,
      operands: 1,
    },
    opaque: true,
  },
  unshare: {
    runs: {
      how: "prefix",
      options: `-R= --root= -w= --wd= -S= --setuid= -G= --setgid= --map-user= --map-users= --map-group= --map-groups= --setgroups= --propagation=
      --monotonic= --boottime= -l= --load-interp= -f -r -c --fork --keep-caps --map-root-user --map-current-user --map-auto -m[=] -u[=] -i[=]
      -n[=] -p[=] -U[=] -C[=] -T[=] --mount[=] --uts[=] --ipc[=] --net[=] --pid[=] --user[=] --cgroup[=] --time[=] --mount-proc[=]
      --mount-binfmt[=] --kill-child[=]`,
      moves: "-R --root -w --wd",
      shell: true,
      byOption: true,
    },
    opaque: true,
  },
  nsenter: {
    runs: {
      how: "prefix",
      options: `-t= --target= -S= --setuid= -G= --setgid= -N= --net-socket= -a -c -e -F -Z --all --env --follow-context --no-fork
      --preserve-credentials --join-cgroup --user-parent -m[=] -u[=] -i[=] -n[=] -p[=] -U[=] -C[=] -T[=] -r[=] -w[=] -W[=] --mount[=]
      --uts[=] --ipc[=] --net[=] --pid[=] --user[=] --cgroup[=] --time[=] --root[=] --wd[=] --wdns[=]`,
      moves: "-a --all -m --mount -r --root -w --wd -W --wdns",
      shell: true,
      byOption: true,
    },
    opaque: true,
  },
  chroot: { runs: { how: "prefix", options: "--groups= --userspec= --skip-chdir", away: true, operands: 1, shell: true }, opaque: true },
  watch: {
    runs: {
      how: "prefix",
      options: `-n= --interval= -q= --equexit= -s= --shotsdir= -b -c -C -e -f -g -p -r -t -w -x --beep --color --no-color --errexit --follow --chgexit
      --precise --no-rerun --no-title --no-wrap --exec -d[=] --differences[=]`,
      rest: "script",
      byOption: true,
    },
    opaque: true,
  },
  script: {
    writes: { operands: "first", options: "-c= -t= -T=" },
    runs: {
      how: "prefix",
      options: `-B= --log-io= -E= --echo= -I= --log-in= -O= --log-out= -T= --log-timing= -m= --logging-format= -o= --output-limit= -t= -F= -a -d -e -f
      -k -p -q -r --append --flush --force --quiet --return -c=script --command=script`,
      operands: 1,
      shell: true,
      permuted: true,
      byOption: true,
    },
    opaque: true,
  },
  strace: {
    writes: { options: "-o=file --output=file -e= -p= -u= -s= -E= -P= -S= -O= -a= -b= -I= -X=", leads: "" },
    runs: {
      how: "prefix",
      options: `-a= -b= -e= -E= -I= -o= -O= -p= -P= -s= -S= -u= -U= -X= --columns= --env= --output= --attach= --string-limit= --user= --trace=
      --trace-path= -c -C -d -D -DD -DDD -f -ff -F -i -k -n -N -q -qq -r -t -tt -ttt -T -v -V -w -x -xx -y -yy -Y -z -Z --follow-forks
      --summary --summary-only`,
      assignments: true,
    },
    opaque: true,
  },
  ltrace: {
    writes: { options: "-o=file --output=file -e= -p= -u= -s= -l= -n= -a= -F=", leads: "" },
    runs: { how: "prefix", options: "-a= -A= -D= -e= -F= -l= -n= -o= -p= -s= -u= -w= -x= -b -c -C -f -i -L -r -S -t -tt -ttt -T" },
    opaque: true,
  },
  entr: { runs: { how: "prefix", options: "-a -c -d -n -p -r -x -z", scriptFlags: "-s" }, opaque: true },
  sg: { runs: { how: "prefix", options: "-c=script", operands: 1, shell: true, permuted: true } },
  pkexec: { runs: { how: "prefix", options: "--user= --disable-internal-agent --keep-cwd", away: true } },
  fakeroot: { runs: { how: "prefix", options: "-l= --lib= --faked= -s= -i= -b= -u --unknown-is-real" } },
  "systemd-run": { runs: { how: "prefix", away: true } },
  setarch: { runs: { how: "prefix", operands: 1, shell: true } },
  ...sameRow("linux32 linux64", { runs: { how: "prefix", shell: true } }),
  ...sameRow(
    "prlimit setpriv numactl xvfb-run dbus-run-session dbus-launch ssh-agent rlwrap unbuffer eatmydata torsocks torify proxychains proxychains4 lima tini dumb-init",
    { runs: { how: "prefix" } },
  ),
  ...sameRow("firejail proot", { runs: { how: "prefix", away: true, shell: true } }),
  valgrind: { writes: { options: "--log-file=file --xml-file=file", leads: "" }, runs: { how: "prefix" } },
  ...sameRow("faketime gosu su-exec", { runs: { how: "prefix", operands: 1 } }),
  "cross-env": { runs: { how: "prefix", assignments: true } },
  "cross-env-shell": { runs: { how: "prefix", assignments: true, rest: "script" } },
  dotenv: { runs: { how: "prefix", options: "-e= -v= -p= -c= -o=" } },
  "env-cmd": {
    runs: { how: "prefix", options: "-f= --file= -r= --rc-file= -e= --environments= --no-override --use-shell --silent --verbose" },
  },
  "ld.so": {
    runs: {
      how: "prefix",
      options: `--library-path= --inhibit-rpath= --audit= --preload= --argv0= --glibc-hwcaps-prepend= --glibc-hwcaps-mask= --inhibit-cache --verify
      --list`,
      loose: true,
    },
  },
  tmux: { version: "-V", runs: { how: "words", names: /^-[a-zA-Z]*[tsnLS]$/ } },
  screen: { runs: { how: "words", names: /^-[a-zA-Z]*[Stprx]$/ } },
  ...sameRow(
    "byobu zellij dtach abduco hyperfine concurrently watchexec onchange reflex when-changed xterm gnome-terminal konsole alacritty kitty foot wezterm urxvt start-stop-daemon daemonize run-one bwrap chpst envdir setuidgid softlimit s6-setuidgid flatpak-spawn",
    { runs: { how: "words" } },
  ),
  pm2: { runs: { how: "words", names: /^(?:-n|--name)$/ } },
  nodemon: {
    runs: {
      how: "options",
      options: `-e= --ext= -w= --watch= -i= --ignore= -d= --delay= -C= --cwd= -s= --signal= --config= -x=script --exec=script`,
    },
  },
  chokidar: { runs: { how: "options", options: "-d= --debounce= -t= --throttle= -i= --ignore= -c=script --command=script" } },
  gdb: { runs: { how: "debugger" }, opaque: true },
  lldb: { runs: { how: "debugger" } },
  perf: { runs: { how: "runner", after: { stat: {}, record: {}, trace: {} } } },
  ...sameRow("at batch", { runs: { how: "input" } }),
};

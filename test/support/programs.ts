import { spawnSync } from "node:child_process";

/** Programs that only some tests need: a command that shows whether it works here, and the Debian package that has it. */
const PROGRAMS = {
  bwrap: { probe: ["--unshare-all", "--ro-bind", "/", "/", "true"], package: "bubblewrap" },
  strace: { probe: ["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "inject=close:error=EIO:when=9999", "true"], package: "strace" },
  perl: { probe: ["-MSocket", "-MFcntl", "-e", "1"], package: "perl" },
  openssl: { probe: ["version"], package: "openssl" },
  tmux: { probe: ["-V"], package: "tmux" },
  ps: { probe: ["-eo", "stat=,args="], package: "procps" },
  unshare: { probe: ["--pid", "--fork", "--mount-proc", "--uts", "true"], package: "util-linux" },
} as const;

/**
 * For the `skip` option of a test: `false` where the program works, else the reason and the package to install.
 * `npm test` lists such tests as not run, and `.ci/run` fails if there are any.
 *
 *     test("a full disk stops the run", { skip: withoutProgram("strace") }, () => …)
 */
export function withoutProgram(name: keyof typeof PROGRAMS): string | false {
  const { probe, package: debian } = PROGRAMS[name];
  const { status, stderr, error } = spawnSync(name, probe, { encoding: "utf8" });
  if (status === 0) return false;
  const isMissing = error !== undefined && "code" in error && error.code === "ENOENT";
  if (isMissing) return `${name} is not installed (Debian package: ${debian})`;
  return `${name} does not work here: ${error?.message ?? stderr.trim()}`;
}

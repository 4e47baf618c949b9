import { SHELLS } from "../walk/wrappers/shells.ts";

/** Shells, interpreters, builders, package runners and programs that run other commands: nobody looks into what they do. */
const OPAQUE: ReadonlySet<string> = new Set([
  ...SHELLS,
  ...(
    "pwsh powershell cmd busybox toybox nu xonsh elvish osh ysh " +
    "python pypy ipython node nodejs deno bun tsx ts-node ruby irb perl raku php lua luajit rscript r java jshell groovy scala kotlin osascript tclsh expect guile erl elixir iex julia " +
    "make gmake ninja just task rake gradle mvn ant bazel npx npm pnpm pnpx yarn bunx uvx pipx ssh mosh docker podman kubectl terraform tofu ansible wsl nix-shell nix " +
    "command builtin exec eval trap nohup setsid time doas chronic caffeinate env sudo runuser su nice ionice chrt taskset stdbuf timeout flock unshare nsenter chroot watch " +
    "script strace ltrace gdb parallel entr xargs coproc"
  ).split(" "),
]);

/** Opaque with this first word only. */
const OPAQUE_VERBS: Readonly<Record<string, readonly string[]>> = {
  go: ["run", "generate"],
  cargo: ["run"],
  uv: ["run"],
  poetry: ["run"],
  dotnet: ["run"],
};

/** Whether these words, a command or the start of one, run code that no table describes. An allow rule for them must name all words. */
export function isOpaque(words: readonly string[]): boolean {
  const [name = "", verb = ""] = words;
  const file = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  const base = file.endsWith(".exe") ? file.slice(0, -".exe".length) : file;
  if (base === "npm") return !["ls", "-v", "--version"].includes(verb);
  if (OPAQUE.has(base) || OPAQUE.has(base.replace(/[-0-9.]+$/, "")) || base.startsWith("python")) return true;
  return Object.hasOwn(OPAQUE_VERBS, base) && (OPAQUE_VERBS[base]?.includes(verb) ?? false);
}

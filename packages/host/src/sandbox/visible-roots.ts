import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";

/** A part of this machine that a confined command can read: a path, or a link such as `/bin`. */
export type VisibleRoot = { readonly path: string; readonly link?: string };

/** Directories of programs and libraries. On most systems all but `/usr` are links into it. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/** Files of `/etc` that programs need and that hold no secrets. */
const ETC = [
  ...["alternatives", "bash.bashrc", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version", "fonts", "gai.conf"],
  ...["gitconfig", "group", "host.conf", "hostname", "hosts", "inputrc", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias"],
  ...["locale.conf", "localtime", "login.defs", "lsb-release", "magic", "magic.mime", "mime.types", "networks", "nsswitch.conf"],
  ...["os-release", "passwd", "perl", "pki/ca-trust", "pki/tls/cert.pem", "pki/tls/certs", "pki/tls/openssl.cnf", "profile", "profile.d"],
  ...["protocols", "python3", "redhat-release", "resolv.conf", "rpc", "services", "shells", "ssl/cert.pem", "ssl/certs"],
  ...["ssl/openssl.cnf", "terminfo", "timezone", "xattr.conf"],
].map((name) => join("/etc", name));

/** Version managers and toolchains, which need more than the directory on the search path. */
const TOOLCHAINS_IN_HOME = [
  ...[
    ".asdf",
    ".bun",
    ".cargo",
    ".deno",
    ".dotnet",
    ".ghcup",
    ".goenv",
    ".jenv",
    ".juliaup",
    ".local/bin",
    ".local/pipx",
    ".local/share/fnm",
  ],
  ...[".local/share/mise", ".local/share/pipx", ".local/share/pnpm", ".local/share/uv", ".n", ".nodenv", ".npm-global", ".nvm", ".opam"],
  ...[".proto", ".pyenv", ".rbenv", ".rustup", ".rye", ".sdkman", ".volta", "go/bin", "miniconda3", "anaconda3"],
];

/** Settings of git that a commit needs. */
const GIT_IN_HOME = [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];

/** Secrets in the home directory. Everything else there is not visible either, except in a workspace that contains it. */
const SECRETS_IN_HOME = [
  ...[".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".oci", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials"],
  ...[".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".terraform.d"],
  ...[".config/gcloud", ".config/gh", ".config/glab-cli", ".config/git/credentials", ".config/hub", ".config/op", ".config/rclone"],
  ...[".config/google-chrome", ".config/chromium", ".mozilla", ".local/share/keyrings", ".password-store", ".vault-token"],
  ...[".claude.json", ".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".bash_history", ".zsh_history"],
];

/** A file or directory that a confined command finds empty. */
export type MaskedPath = { readonly path: string; readonly isDirectory: boolean };

/** Finds the programs and libraries of this machine that a confined command may read. `searchPath` is its `PATH`. */
export function listVisibleRoots(searchPath: string, home: string): readonly VisibleRoot[] {
  const system = [...SYSTEM, ...ETC].flatMap(readRoot);
  const found = searchPath.split(":").filter((directory) => isAbsolute(directory) && isDirectory(directory));
  const known = TOOLCHAINS_IN_HOME.map((name) => join(home, name));
  const named = new Set(found.flatMap((directory) => toolchainOf(directory, home, known)));
  if (named.has(join(home, ".cargo"))) named.add(join(home, ".rustup"));
  if (named.has(join(home, ".local/bin"))) for (const path of known.filter((one) => one.startsWith(join(home, ".local")))) named.add(path);
  const added = [...named, ...GIT_IN_HOME.map((name) => join(home, name))].filter((path) => !isBelow(path, system));
  return [...system, ...added.flatMap(readRoot)];
}

/** Finds secrets of the home directory that exist. */
export function listHomeSecrets(home: string): readonly MaskedPath[] {
  return SECRETS_IN_HOME.map((name) => join(home, name)).flatMap((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats ? [{ path: realpathSync(path), isDirectory: stats.isDirectory() }] : [];
  });
}

/** The directories that make a program directory usable: the toolchain it belongs to, or the directory above `bin`. */
function toolchainOf(directory: string, home: string, known: readonly string[]): readonly string[] {
  const all = new Set([resolve(directory), realpathSync(directory)]);
  return [...all].flatMap((path) => {
    const toolchain = known.find((one) => isInside(one, path));
    if (toolchain !== undefined) return [toolchain];
    const parent = dirname(path);
    const mayShowParent = basename(path) === "bin" && !isInside(parent, home) && dirname(parent) !== "/" && parent !== join(home, ".local");
    return [mayShowParent ? parent : path];
  });
}

function readRoot(path: string): readonly VisibleRoot[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || !existsSync(path)) return [];
  return [stats.isSymbolicLink() && dirname(path) === "/" ? { path, link: readlinkSync(path) } : { path }];
}

function isBelow(path: string, roots: readonly VisibleRoot[]): boolean {
  return roots.some((root) => isInside(root.path, path));
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** True for the directory itself and for everything below it. */
export function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

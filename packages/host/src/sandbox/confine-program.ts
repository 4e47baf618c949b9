import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { ConfinedProgram, ConfinedStart } from "@assent/core";
import { isInside, type MaskedPath, type VisibleRoot } from "./visible-roots.ts";

/** How bubblewrap is used on this machine, as `probeSandbox` found out. */
export type SandboxProgram = {
  readonly file: string;
  /** It can forbid further user namespaces. */
  readonly disablesUserNamespaces: boolean;
  /** The filter of system calls for this processor, if there is one. */
  readonly filter?: Uint8Array;
};

/** What a confined command can see and change. All paths are absolute and real. */
export type Confinement = {
  readonly sandbox: SandboxProgram;
  /** Programs and libraries, read-only. */
  readonly roots: readonly VisibleRoot[];
  readonly workspace: string;
  /** Shown in place of the workspace: a copy, or a view that is already mounted. */
  readonly workspaceFrom?: string;
  /** The private directory that commands of this session see as `/tmp`. */
  readonly temporary: string;
  /** The home directory. Commands see an empty one below the private directory, unless it is in the workspace. */
  readonly home: string;
  /** Further paths that can be changed. */
  readonly writable: readonly string[];
  /** Existing paths in the workspace that cannot be changed. */
  readonly readOnly: readonly string[];
  readonly masked: readonly MaskedPath[];
  readonly network: boolean;
};

/** Descriptors of bubblewrap. 3 is the gate of `startProgram`. */
const ARGUMENTS_FD = 4;
const STATUS_FD = 5;
const FILTER_FD = 6;

/** Where the private home directory is inside the private `/tmp`. */
export const PRIVATE_HOME = ".home";

/** Mounts with the same destination: the later kind covers the earlier. */
const KINDS = ["root", "private", "writable", "pinned", "readOnly", "masked"] as const;

type Mount = { readonly at: string; readonly kind: (typeof KINDS)[number]; readonly args: readonly string[] };

/** Turns a program into the bubblewrap command that confines it. Options go through a descriptor, so that nothing can read them. */
export function confineProgram(program: ConfinedProgram, confinement: Confinement): ConfinedStart {
  const { sandbox, network } = confinement;
  const options = [
    ...["--unshare-all", "--unshare-user", ...(sandbox.disablesUserNamespaces ? ["--disable-userns"] : [])],
    ...(network ? ["--share-net"] : []),
    ...["--cap-drop", "ALL", "--die-with-parent"],
    ...(program.hasTerminal ? [] : ["--new-session"]), // a terminal of ours stays the controlling one
    ...listMounts(confinement).flatMap(({ args }) => args),
    ...["--remount-ro", "/"],
    ...insideEnvironment(program.env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", program.cwd, "--json-status-fd", `${STATUS_FD}`],
    ...(sandbox.filter ? ["--seccomp", `${FILTER_FD}`] : []),
  ];
  const checked = checkMounts(program, listProtected(confinement));
  const given = new TextEncoder().encode(options.map((option) => `${option}\0`).join(""));
  return {
    file: sandbox.file,
    args: ["--args", `${ARGUMENTS_FD}`, "--", ...checked],
    cwd: "/",
    env: {},
    statusFd: STATUS_FD,
    feeds: [{ fd: ARGUMENTS_FD, bytes: given }, ...(sandbox.filter ? [{ fd: FILTER_FD, bytes: sandbox.filter }] : [])],
  };
}

/** Parents come first, because a later mount covers what is below it. */
function listMounts(confinement: Confinement): readonly Mount[] {
  const { roots, workspace, workspaceFrom = workspace, temporary, home, readOnly, masked } = confinement;
  const changeable = listChangeable(confinement);
  const isChangeable = (path: string): boolean => changeable.some((one) => isInside(one, path));
  const sourceOf = (path: string): string => (isInside(workspace, path) ? join(workspaceFrom, relative(workspace, path)) : path);
  const bind = (kind: Mount["kind"], path: string, option = "--bind"): Mount => ({ at: path, kind, args: [option, sourceOf(path), path] });
  const pinned = listPinned(confinement);
  const mounts: Mount[] = [
    ...roots.filter(({ path }) => !isChangeable(path)).map(mountRoot),
    ...PROC_AND_DEV,
    { at: "/tmp", kind: "private", args: ["--bind", temporary, "/tmp"] },
    { at: "/var/tmp", kind: "private", args: ["--symlink", "../tmp", "/var/tmp"] },
    ...(isChangeable(home) || home === "/"
      ? []
      : [{ at: home, kind: "private" as const, args: ["--bind", join(temporary, PRIVATE_HOME), home] }]),
    ...changeable.map((path) => bind("writable", path)),
    ...pinned.map((path) => bind("pinned", path)),
    ...readOnly.map((path) => bind("readOnly", path, "--ro-bind")),
    ...masked.filter(({ path }) => isChangeable(path) || roots.some((root) => isInside(root.path, path))).map(mountMask),
  ];
  return mounts.toSorted((one, other) => depthOf(one.at) - depthOf(other.at) || KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind));
}

function listChangeable({ workspace, writable }: Confinement): readonly string[] {
  return [workspace, ...writable];
}

function listPinned(confinement: Confinement): readonly string[] {
  return [...new Set(confinement.readOnly.flatMap((path) => directoriesBetween(listChangeable(confinement), path)))];
}

/** Paths that another confined command could exchange for links while bubblewrap mounts them. */
function listProtected(confinement: Confinement): readonly string[] {
  if (confinement.workspaceFrom !== undefined) return []; // no other command can see it
  return [...new Set([...listPinned(confinement), ...confinement.readOnly])];
}

/**
 * Runs the program only if each path is mounted from where it is outside. Without this, a command in the background could exchange a directory for a link to
 * a place outside at the right moment, and bubblewrap would show that place to the next command.
 */
function checkMounts({ file, args, env }: ConfinedProgram, paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [file, ...args];
  const mounts = readFileSync("/proc/self/mountinfo", "utf8").split("\n").map(parseMount);
  const expected = paths.map((path) => `\n${describePlace(path, mounts)}\n`).join("");
  const own = ["PWD", "OLDPWD", "SHLVL"].filter((name) => !(name in env));
  const forget = own.length === 0 ? "" : `unset ${own.join(" ")}\n`;
  return ["/bin/sh", "-c", `(${CHECK}) || exit 126\nshift\n${forget}exec "$0" "$@"`, file, expected, ...args];
}

/** Removes each expected mount from the list. One from elsewhere, or one that is missing, ends it. Runs in a subshell, so that its variables are gone. */
const CHECK = `expected=$1
while read -r _ _ device root point _; do
  place="
$point $device $root
"
  case "$expected" in
    *"$place"*) expected="\${expected%%"$place"*}\${expected#*"$place"}" ;;
    *"
$point "*) break ;;
  esac
done < /proc/self/mountinfo
[ -z "$expected" ] && exit
echo "The command was not run: files in the workspace were exchanged while the sandbox was set up. Run it again." >&2
exit 1`;

type MountLine = { readonly point: string; readonly device: string; readonly root: string };

function parseMount(line: string): MountLine {
  const [, , device = "", root = "", point = ""] = line.split(" ");
  return { point, device, root };
}

/** Where a path is, as the kernel lists it when the path is mounted. */
function describePlace(path: string, mounts: readonly MountLine[]): string {
  const escaped = path.replace(/[ \t\n\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
  const below = mounts.filter(({ point }) => point !== "" && isInside(point, escaped));
  const { point, device, root } = below.reduce(
    (one, other) => (other.point.length >= one.point.length ? other : one),
    below[0] as MountLine,
  );
  return `${escaped} ${device} ${join(root, relative(point, escaped))}`;
}

function mountRoot({ path, link }: VisibleRoot): Mount {
  return { at: path, kind: "root", args: link === undefined ? ["--ro-bind", path, path] : ["--symlink", link, path] };
}

function mountMask({ path, isDirectory }: MaskedPath): Mount {
  return { at: path, kind: "masked", args: isDirectory ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path] };
}

/** The settings of the kernel are files of root, which a command of root could write even without privileges. */
const PROC_AND_DEV: readonly Mount[] = [
  { at: "/proc", kind: "private", args: ["--proc", "/proc"] },
  { at: "/proc/sys", kind: "private", args: ["--ro-bind", "/proc/sys", "/proc/sys"] },
  { at: "/dev", kind: "private", args: ["--dev", "/dev"] },
];

/** A mount cannot be renamed. So each directory above a read-only path becomes one, or it could be moved away and replaced. */
function directoriesBetween(tops: readonly string[], path: string): readonly string[] {
  const above: string[] = [];
  for (let at = dirname(path); tops.some((top) => at !== top && isInside(top, at)); at = dirname(at)) above.push(at);
  return above;
}

function depthOf(path: string): number {
  return path === "/" ? 0 : path.split("/").length;
}

/** Temporary files belong to the private directory. */
function insideEnvironment(env: ConfinedProgram["env"]): readonly (readonly [string, string])[] {
  const { TMP: _tmp, TEMP: _temp, ...rest } = env;
  return Object.entries({ ...rest, TMPDIR: "/tmp" });
}

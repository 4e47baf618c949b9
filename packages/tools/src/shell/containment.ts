import { existsSync, realpathSync } from "node:fs";
import type { Containment, ProcessSpec } from "@assent/core";
import { quoteWord } from "@assent/core/parts";
import {
  type ConfinedView,
  type Confinement,
  confineProgram,
  createPrivateDirectory,
  listAbandonedNotes,
  listHomeSecrets,
  listVisibleRoots,
  type MaskedPath,
  noteRunning,
  probeSandbox,
  type SandboxProbe,
  setAside,
} from "@assent/host";
import { type ControlSearch, findNewControls, findWorkspaceControls, listReadOnlyControls } from "@assent/policy";

/** Confines commands of the shell tool on this machine. */
export type ShellContainment = Pick<ControlSearch, "isControl"> & {
  /** Runs a real command, once. */
  readonly probe: () => Promise<SandboxProbe>;
  /** Prepares the sandbox for one command. Throws if it cannot. */
  readonly enter: (command: ConfinedCommand) => Promise<EnteredSandbox>;
  /**
   * The same sandbox for a command on a view of the workspace, without network. All of the view can be changed, because a person sees the changes first;
   * nothing else can be. Throws if it cannot.
   */
  readonly enterView: (searchPath: string) => Promise<(view: ConfinedView) => Confinement>;
};

export type ConfinedCommand = {
  readonly sessionId: string;
  readonly network: boolean;
  readonly cwd: string;
  /** The command's `PATH`, whose programs it can see. */
  readonly searchPath: string;
  /** It may run for hours, or is known to only read, so that a new control file is more likely the person's. */
  readonly keepsNewControls: boolean;
};

export type EnteredSandbox = {
  readonly confine: NonNullable<ProcessSpec["confine"]>;
  /** Call it after the command's end. Moves new control files away, or names them, and returns a line about each. */
  readonly leave: () => readonly string[];
};

/** What the sandboxes of a workspace need. */
export type ShellContainmentOptions = Pick<ControlSearch, "workspace" | "isControl"> & {
  readonly home: string;
  /** Further paths that commands may change; missing ones are skipped. */
  readonly writable: () => readonly string[];
  /** Directories that commands find empty, such as the one of the ledger. */
  readonly hidden?: readonly string[];
  /** Where control files are moved that a command created. */
  readonly aside: string;
};

/** Creates the sandboxes of a workspace's commands. Nothing happens before the first use. */
export function createShellContainment({
  workspace,
  home,
  writable,
  isControl,
  hidden = [],
  aside,
}: ShellContainmentOptions): ShellContainment {
  let probed: Promise<SandboxProbe> | undefined;
  const probe = (): Promise<SandboxProbe> => {
    probed ??= probeSandbox();
    return probed;
  };
  const directories = new Map<string, string>();
  const directoryOf = (sessionId: string): string => {
    const directory = directories.get(sessionId) ?? createPrivateDirectory();
    directories.set(sessionId, directory);
    return directory;
  };
  type Given = Omit<Confinement, "sandbox" | "roots" | "masked" | "workspace" | "home">;
  const describe = async (searchPath: string): Promise<(given: Given) => Confinement> => {
    const found = await probe();
    if (!found.works) throw new Error(found.reason);
    const { sandbox } = found;
    const masked = [...listHomeSecrets(home), ...listHidden(hidden)];
    return (given) => ({ sandbox, roots: listVisibleRoots(searchPath, home), masked, workspace, home, ...given });
  };
  return {
    isControl,
    probe,
    enterView: async (searchPath) => {
      const confinementOf = await describe(searchPath);
      return (view) => confinementOf({ ...view, writable: [], readOnly: [], network: false });
    },
    enter: async ({ sessionId, network, cwd, searchPath, keepsNewControls }) => {
      const confinementOf = await describe(searchPath);
      const earlier = settleAbandoned({ workspace, isControl }, aside);
      const search = { workspace, cwd, isControl };
      const before = findWorkspaceControls(search);
      const temporary = directoryOf(sessionId);
      const readOnly = listReadOnlyControls(before, workspace);
      const confinement = confinementOf({ temporary, network, writable: listWritable(writable()), readOnly });
      const note = keepsNewControls ? undefined : noteRunning(aside, { workspace, cwd, before: [...before] } satisfies CommandNote);
      return {
        confine: (program) => confineProgram(program, confinement),
        leave: () => {
          const created = findNewControls(before, findWorkspaceControls(search));
          const lines = keepsNewControls ? created.map(sayAppeared) : moveAway(created, aside);
          note?.remove();
          return [...earlier, ...lines];
        },
      };
    },
  };
}

/** What is needed to find the control files that a command created. */
type CommandNote = Pick<ControlSearch, "workspace" | "cwd"> & { readonly before: readonly (readonly [path: string, target: string])[] };

/** Moves away what commands created whose Assent was killed before it could do so. Files that appeared later stay. */
function settleAbandoned({ workspace, isControl }: Pick<ControlSearch, "workspace" | "isControl">, aside: string): readonly string[] {
  return listAbandonedNotes(aside).flatMap((note) => {
    const { cwd, before, workspace: there } = note.about as CommandNote; // as written above
    if (there !== workspace) return [];
    const created = findNewControls(new Map(before), findWorkspaceControls({ workspace, cwd, isControl }));
    const lines = moveAway(created.filter(note.isOlder), aside);
    note.remove();
    return lines;
  });
}

function moveAway(created: readonly string[], aside: string): readonly string[] {
  const places = setAside(created, aside);
  return created.map(
    (path, at) =>
      `[Moved away: ${path}. It is a control file that appeared while a confined command ran. If a person created it, that person can put it back: mv -n ${quoteWord(places[at] ?? "")} ${quoteWord(path)}]`,
  );
}

function sayAppeared(path: string): string {
  return `[${path} is a control file that appeared while the command ran. Check it before you use it: Assent cannot tell who created it.]`;
}

function listHidden(directories: readonly string[]): readonly MaskedPath[] {
  return directories.filter((path) => existsSync(path)).map((path) => ({ path: realpathSync(path), isDirectory: true }));
}

/** By both spellings, because the sandbox does not have the links that lead to them. */
function listWritable(paths: readonly string[]): readonly string[] {
  return [...new Set(paths.filter((path) => existsSync(path)).flatMap((path) => [path, realpathSync(path)]))];
}

/** What a command's output says that it would not say outside, and how the sandbox explains it. */
const SIGNS: readonly (readonly [pattern: RegExp, cause: string])[] = [
  [/Read-only file system|\bEROFS\b/i, "it can write only in the workspace and in its private /tmp"],
  [
    /Network is unreachable|Could not resolve host|Temporary failure in name resolution|Name or service not known|\b(?:EAI_AGAIN|ENETUNREACH|ENOTFOUND)\b|Failed to connect to|network is down/i,
    "it has no network",
  ],
  [/\.sock\b|Cannot connect to the Docker daemon|authentication agent|D-?Bus/i, "it cannot reach services of this machine"],
  [
    /(?:^|[\s'"‘(=])\/(?:opt|srv|mnt|media|var|run|sys|boot|snap)\/[^\n]*(?:No such file or directory|ENOENT)|ENOENT[^\n]*['"]\/(?:opt|srv|mnt|media|var|run|sys|boot|snap)\//m,
    "it does not see directories outside the workspace, except programs and libraries",
  ],
  [/Permission denied|Operation not permitted|\bE(?:ACCES|PERM)\b/i, "secrets and parts of the system are hidden from it"],
];

/** A line about a failed command that may have failed because it was confined. It is a guess from the output. */
export function guessConfinementFailure(output: string, where: Containment | undefined): string | undefined {
  if (!where?.confined) return undefined;
  const found = SIGNS.find(([pattern, cause]) => pattern.test(output) && !(where.network && cause === "it has no network"));
  if (!found) return undefined;
  const way = !where.required
    ? "To run it outside, call shell again with unconfined: true, or type /outside in the terminal. Both ask a person."
    : "The settings do not let it run outside.";
  return `[the command ran confined, and this may be why it failed (a guess from its output): ${found[1]}. ${way}]`;
}

import type { SpilledOutput } from "./model/result/result.ts";
import type { TaskProcess } from "./model/task/events.ts";
import type { SpillFile } from "./ports.ts";
import type { Maybe } from "./tool-definition.ts";

/** A program to start in its own process group. */
export type ProcessSpec = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly onOutput?: (chunk: string) => void;
  /** Called with the child's identity before its output is read; the child is killed if this rejects. */
  readonly onStart?: (process: TaskProcess) => Promise<void>;
  /** Where output goes that exceeds the memory limit. */
  readonly spill?: () => Promise<SpillFile>;
  /** All output goes to `spill` at once, and little is kept in memory. */
  readonly spillsAll?: boolean;
  /**
   * For `run` only: gives the program a terminal of this size, which hangs up when its leader exits. Rejects where
   * terminals are unavailable.
   */
  readonly pty?: { readonly columns: number; readonly rows: number };
  /** Confines every program of this run. Absent: they run as they are. */
  readonly confine?: (program: ConfinedProgram) => ConfinedStart;
};

/** A program that is to run confined. */
export type ConfinedProgram = Pick<ProcessSpec, "file" | "args" | "cwd" | "env"> & { readonly hasTerminal: boolean };

/** The launcher that runs a program confined. */
export type ConfinedStart = Pick<ProcessSpec, "file" | "args" | "cwd" | "env"> & {
  /** Bytes that the launcher reads from descriptors. Descriptor 3 is not available. */
  readonly feeds: readonly { readonly fd: number; readonly bytes: Uint8Array }[];
  /** The launcher writes lines of JSON here; one with `exit-code` means that the program itself ran and ended. */
  readonly statusFd: number;
};

/** How a program ended. */
export type ProcessEnd = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly ended: "exit" | "timeout" | "cancelled";
  /** Standard output and error in order of arrival; head and tail only when `dropped` is above 0. */
  readonly output: string;
  readonly chars: number;
  readonly lines: number;
  readonly dropped: number;
  readonly spilled?: SpilledOutput;
  /** Processes of its groups that are still running. */
  readonly survivors: readonly number[];
};

/** The redirections allowed for a program of a list; order matters: `>/dev/null 2>&1` differs from `2>&1 >/dev/null`. */
export type StepRedirection = "2>&1" | "1>&2" | ">/dev/null" | "2>/dev/null" | "</dev/null";

/** One program of a pipeline, by absolute path, run without a shell. */
export type PlanProgram = {
  readonly file: string;
  readonly args: readonly string[];
  /** Defaults to its file; a gated program always uses its file. */
  readonly argv0?: string;
  readonly cwd: string;
  readonly redirections: readonly StepRedirection[];
  /** It begins only once its start is recorded. */
  readonly gated?: boolean;
  /** Checked before the list starts and again right before this program; false if the file is not the intended program. */
  readonly unchanged?: () => boolean;
  /** Computes the arguments right before the start, instead of `args`; a rejection prevents the run. */
  readonly prepare?: (signal: AbortSignal) => Promise<readonly string[]>;
};

/** A change of directory without a process; it succeeds if the directory can be entered. Programs have their own `cwd`. */
export type PlanEntry = { readonly enter: string; readonly redirections: readonly StepRedirection[] };

/** A pipeline, and the status of the previous step that it requires. */
export type PlanStep = { readonly when: "always" | "success" | "failure"; readonly pipeline: readonly (PlanProgram | PlanEntry)[] };

/** Programs joined as a shell joins them by `;`, `&&`, `||` and `|`. */
export type StepsSpec = Omit<ProcessSpec, "file" | "args" | "cwd"> & { readonly steps: readonly PlanStep[] };

/** How a list ended: with the status of the last step that ran. */
export type StepsEnd = ProcessEnd & {
  /** Lines to show after the output. */
  readonly notes?: readonly string[];
  /**
   * A program that was not run, nor anything after it, because its file changed, preparing it failed, or it could not be
   * confined. `ran`: earlier steps had run.
   */
  readonly refused?: {
    readonly file: string;
    readonly reason: "changed" | "unprepared" | "unconfined";
    readonly message: string;
    readonly ran: boolean;
  };
};

/** A program whose input and output stay open. A file without a slash is looked up in the `PATH` of `env`. */
export type PipedProgram = Pick<ProcessSpec, "file" | "args" | "cwd" | "env"> & {
  /** The next chunk is read once this has returned, or resolved. */
  readonly onOutput: (chunk: Uint8Array) => Maybe<void>;
  readonly onError: (text: string) => void;
};

/** A running program with open pipes. */
export type PipedProcess = {
  readonly pid: number;
  /** Resolves when the system took the text; rejects once the program no longer reads. */
  readonly write: (text: string) => Promise<void>;
  /** Closes its input, waits, then ends its group and what left the group. Resolves once it is gone. */
  readonly close: () => Promise<void>;
  /** Resolves when the program has exited and its output is read. Never rejects. */
  readonly ended: Promise<Pick<ProcessEnd, "exitCode" | "signal">>;
};

/** What remained of process groups. */
export type LeftOver = {
  readonly found: boolean;
  /** Still running: they could not be ended, or their owner is unclear. */
  readonly survivors: readonly number[];
};

/** Starts programs; nothing else in the project spawns. */
export interface Processes {
  /**
   * Rejects only if the program cannot be started, which includes a confinement that cannot be set up (code
   * `ERR_NOT_CONFINED`). On abort or timeout the whole group, and processes that left it, get
   * SIGTERM, then SIGKILL after 2 s.
   */
  run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessEnd>;
  /**
   * Runs pipelines in order, each program in its own group, with one time limit and one output; a pipeline's status is
   * that of its last program. After an abort or the time limit no further step starts. `onStart` is called once per
   * step with the first gated program, or the first, and the rest as `others`. A program that fails to start counts as
   * ended with 126 or 127 and is named in the output. Rejects with what `onStart` or `onOutput` threw, or when pipes
   * cannot be created.
   */
  runSteps(spec: StepsSpec, signal: AbortSignal): Promise<StepsEnd>;
  /**
   * Starts a program to talk to. It ends with this process, even if that is killed: then its group gets SIGTERM, and SIGKILL after 2 s.
   * Rejects if it cannot be started.
   */
  open(program: PipedProgram): Promise<PipedProcess>;
  /** The start time of a live process, or undefined; pid and start time together identify a process. */
  startOf(pid: number): string | undefined;
  /**
   * Ends what remains of an earlier process, its `others` and their descendants; never signals a process that may
   * belong to someone else.
   */
  endLeftOver(process: TaskProcess): Promise<LeftOver>;
  /** Ends the process and its `others` if this process dies, until the returned function is called. */
  endWithUs(process: TaskProcess): () => void;
}

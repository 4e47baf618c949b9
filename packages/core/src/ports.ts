import type { Answer } from "./model/answer.ts";
import type { ConfirmationDetails, WiderRules } from "./model/confirmation.ts";
import type { NamedChecker, RuleRef, Safeguard, Scope } from "./model/decision.ts";
import type { HookOpinion } from "./model/hooks/combine.ts";
import type { HookEvent, HookNotice, HookPoint } from "./model/hooks/event-table.ts";
import type { Json, JsonObject } from "./model/json/json.ts";
import type { Kind } from "./model/kind.ts";
import type { Containment, Request, Unit } from "./model/request.ts";
import type { SpilledOutput } from "./model/result/result.ts";
import type { TaskProcess } from "./model/task/events.ts";
import type { JsonSchema, Location, Maybe } from "./tool-definition.ts";

export type { HookOpinion } from "./model/hooks/combine.ts";
export type { HookEvent, HookNotice } from "./model/hooks/event-table.ts";

/** Time. `now` is milliseconds since 1970 and may jump; such a jump must not change when timers fire. */
export interface Clock {
  now(): number;
  /**
   * Calls `fire` once, not before `ms` have passed; the returned function cancels it. Keeps the process alive only with
   * `keepsAlive`.
   */
  timer(ms: number, fire: () => void, options?: { readonly keepsAlive?: boolean }): () => void;
}

/** Generates ids that are unique across all processes that share a ledger. */
export interface Ids {
  /** `prefix` followed by random characters of `[a-z2-7]`: `s_`, `a_`, `g_`, … */
  next(prefix: string): string;
}

/** SHA-256 of a text's UTF-8 bytes as lower-case hex; must not throw for any string. */
export interface Digest {
  sha256(text: string): string;
  /** The same for bytes. Defaults to the platform's digest, which is slower for many small contents. */
  sha256Bytes?(bytes: Uint8Array): string;
}

/** A compiled JSON Schema; it must not change the value. */
export type Validator = (value: unknown) => readonly SchemaProblem[];

/** One violation: a JSON pointer into the value ("" is the root) and the validator's message. */
export type SchemaProblem = { readonly pointer: string; readonly text: string };

/** Compiles JSON Schema. */
export interface Schemas {
  /** Throws the compiler's message for an invalid schema; never returns a validator that skips unknown parts. */
  compile(schema: JsonSchema): Validator;
}

/** What the runtime learns about a request from the world before judging it. */
export type RequestFacts = {
  /** At least one. */
  readonly units: readonly Unit[];
  readonly binds: Readonly<Record<string, string>>;
  /** Every location is inside the workspace after resolving links; unknown is false. */
  readonly insideWorkspace?: boolean;
  /** It touches secrets or files outside the workspace, so it is not harmless even if its tool only reads. */
  readonly exposes?: boolean;
  readonly planFile?: boolean;
  /** Proven to change nothing. */
  readonly safe?: boolean;
  readonly planDigest?: string;
  /** The judged object itself, which the body runs when rules alone allow the call; never stored. */
  readonly plan?: unknown;
  /** Where the command would run. */
  readonly containment?: Containment;
  /** Shown to the person who is asked: paths, command, host. */
  readonly view?: Json;
};

/** Inspects the files and texts a request mentions, without starting or writing anything. A throw leads to an ask. */
export type Facts = (request: {
  readonly tool: string;
  readonly kind: Kind;
  readonly input: JsonObject;
  readonly cwd: string;
  /** Undefined if the tool could not tell. */
  readonly locations: readonly Location[] | undefined;
}) => Maybe<RequestFacts>;

/** A parsed rule; `covers` reads it narrowly, as an allow. */
export type GrantRule = {
  readonly text: string;
  readonly covers: (request: Request, unit: Unit) => boolean;
  /** What it permits beyond its words, in one sentence. */
  readonly risk?: string;
};

/** The notation of remembered answers. */
export interface Rules {
  /** Throws a sentence for an invalid rule. */
  parse(text: string): GrantRule;
  /** The narrowest rules an "always" for this request would store; empty if none may be offered. */
  offer(request: Request): readonly string[];
  /** Wider rules for the same request, with their risk; undefined if there are none. */
  offerWider?(request: Request): WiderRules | undefined;
}

/** Everything that judges a batch, taken at once so that two revisions never mix. */
export type Policy = {
  /** Digest of all effective rules in order. */
  readonly revision: string;
  /** What people call the version of its files, such as `team 2026-11-03`; recorded with each decision. */
  readonly version?: string;
  readonly mode: string;
  readonly checkers: readonly NamedChecker[];
  readonly safeguards: readonly Safeguard[];
  /** False: the read-only hint is ignored. */
  readonly honourReadOnlyHint: boolean;
  /** Commands that run confined and without network need no approval. */
  readonly allowConfined?: boolean;
  /** Without it, only tools that always stage do so, and both people and models may resolve. */
  readonly proposals?: {
    readonly resolver: "both" | "model" | "person";
    /** True stages a call that would run directly. */
    readonly stages: (request: Request) => boolean;
  };
  /** Whether people can see what a call would do before they answer: never, on request, or always; absent means never. */
  readonly effectPreview?: "off" | "offer" | "always";
};

/** Provides the current policy. */
export interface PolicySource {
  /** A throw denies every call of the batch. */
  current(): Policy;
  /** Calls `changed` after every policy change; the returned function unsubscribes. */
  subscribe(changed: () => void): () => void;
}

/** An approval as shown to people. */
export type OpenApproval = {
  readonly id: string;
  readonly revision: number;
  readonly sessionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly title: string;
  readonly fingerprint: string;
  readonly input: JsonObject;
  readonly cwd: string;
  readonly reason: string;
  readonly source: string;
  readonly rule: RuleRef | null;
  readonly explicitAsk: boolean;
  readonly details: ConfirmationDetails;
  readonly suggestions: readonly string[];
  /** What was learned about the request beyond its text. */
  readonly facts?: Json;
  readonly expiresAt: string | null;
  readonly agentName?: string;
};

/** Asks a person about an open approval. */
export interface Approver {
  /** False if no person can be reached now; then `onAsk` decides. */
  available(): boolean;
  /**
   * Shows the approval and resolves with the answer, or undefined to let `onAsk` decide. If the details offer a preview,
   * the answer may ask for it; the approval is then shown again under its next revision. An answer for another approval
   * is ignored. Must stop asking when the signal aborts, because another approver answered or the call was cancelled.
   * After a throw, or the third invalid answer, `onAsk` decides.
   */
  ask(approval: OpenApproval, signal: AbortSignal): Promise<Answer | undefined>;
}

/** A growing file for the full output of one call. */
export interface SpillFile {
  readonly path: string;
  /** Appends; past the file's limit it writes a mark once and drops the rest. Rejects when the disk refuses. */
  write(chunk: string | Uint8Array): Promise<void>;
  end(): Promise<SpilledOutput>;
}

/** A directory by its real path and identity. */
type Anchor = { readonly path: string; readonly device: string; readonly inode: string };

/** Files the runtime itself writes; nothing else in the project renames. */
export interface Files {
  /** Creates a file of mode 0600 with an unpredictable name in the session's output directory. */
  spill(sessionId: string, callId: string): Promise<SpillFile>;
  /**
   * Replaces a file atomically (temporary file, fsync, rename) and creates parent directories; after a failure the old
   * bytes are intact and no temporary file is left. With an `anchor`, the real path must be below that same directory
   * without links, or nothing is written (code `ERR_PLACE_CHANGED`).
   */
  replace(path: string, bytes: string | Uint8Array, options?: { readonly mode?: number; readonly anchor?: Anchor }): Promise<void>;
}

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

/**
 * Users' hook programs and functions. The runner must fail closed where an event can block; a throw of the port itself
 * counts as a deny.
 */
export interface Hooks {
  /** Undefined if no hook of this event applies. */
  consult(event: HookEvent, input: JsonObject, signal: AbortSignal): Promise<HookOpinion | undefined>;
  /**
   * True if a hook of this event may look at calls of this tool. If false, no hook is consulted or notified about them. Live output is withheld where it says so of
   * `tool_response_transform`, so a port that removes text from results must have it; without it, live output is shown.
   */
  readonly applies?: (event: HookPoint, tool: string) => boolean;
  /** Notifies hooks without waiting; it cannot change anything. */
  tell(event: HookNotice, input: JsonObject): void;
}

/** A span compatible with OpenTelemetry's `Span`. */
export interface Span {
  setAttribute(key: string, value: string | number | boolean): unknown;
  addEvent(name: string, attributes?: Record<string, string | number | boolean>): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  spanContext(): unknown;
  end(endTime?: number): void;
}

/** A tracer compatible with OpenTelemetry's `Tracer`; a throw changes nothing. */
export interface Tracer {
  startSpan(
    name: string,
    options?: { kind?: number; attributes?: Record<string, string | number | boolean>; links?: { context: never }[]; startTime?: number },
  ): Span;
}

/** The call a hook may be about, as rules see it before judging. */
export type HookSubject = { readonly tool: string; readonly kind: Kind; readonly input: JsonObject; readonly cwd: string };

/** What a hook runs: a program (through the shell, or directly with `args`) or a registered function. */
export type HookBody =
  | {
      readonly type: "command";
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
      /** Names of variables to pass on although they are secret or blocked by default. */
      readonly passEnv?: readonly string[];
    }
  | { readonly type: "function"; readonly function: string };

/** One configured hook, parsed and ready to run. */
export type HookEntry = {
  readonly event: HookPoint;
  /** For messages. */
  readonly name: string;
  readonly source: Scope;
  readonly body: HookBody;
  /** The compiled matcher; absent matches all. */
  readonly matches?: (value: string) => boolean;
  /** The compiled `if` rule, read broadly; a throw counts as a match. */
  readonly test?: (subject: HookSubject) => Maybe<boolean>;
  readonly timeoutMs: number;
  readonly onFailure: "block" | "warn";
  /** The runtime does not wait for it and ignores its result. */
  readonly async: boolean;
  /** The normalized definition without its name; hooks with equal definitions run once. */
  readonly definition: string;
};

/**
 * A hook in this process: its input is deep-frozen, `undefined` means no opinion, and anything but an object of the
 * documented fields is a failure.
 */
export type HookFunction = (input: JsonObject, context: { readonly signal: AbortSignal }) => unknown;

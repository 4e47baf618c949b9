import type { Answer } from "./model/answer.ts";
import type { ConfirmationDetails } from "./model/confirmation.ts";
import type { NamedChecker, RuleRef, Safeguard, Scope } from "./model/decision.ts";
import type { HookOpinion } from "./model/hooks/combine.ts";
import type { HookEvent, HookNotice, HookPoint } from "./model/hooks/event-table.ts";
import type { Json, JsonObject } from "./model/json/json.ts";
import type { Kind } from "./model/kind.ts";
import type { Request, Unit } from "./model/request.ts";
import type { Spilled } from "./model/result/result.ts";
import type { TaskProcess } from "./model/task/events.ts";
import type { JsonSchema, Location, Maybe } from "./tool-definition.ts";

export type { HookOpinion } from "./model/hooks/combine.ts";
export type { HookEvent, HookNotice } from "./model/hooks/event-table.ts";

/** Time. `now` is milliseconds since 1970 and may jump; timers must not be shortened or lengthened by such a jump. */
export interface Clock {
  now(): number;
  /** Calls `fire` once, not before `ms` have passed. The returned function cancels it and may be called at any time. Keeps the process alive only with `keepsAlive`. */
  timer(ms: number, fire: () => void, options?: { readonly keepsAlive?: boolean }): () => void;
}

/** Names for new things. Two calls never return the same id, in this process or any other that shares a ledger. */
export interface Ids {
  /** `prefix` followed by random characters of `[a-z2-7]`: `s_`, `a_`, `g_`, … */
  next(prefix: string): string;
}

/** SHA-256 of the UTF-8 bytes of a text, as lower-case hex. Deterministic; must not throw for any string. */
export interface Digest {
  sha256(text: string): string;
  /** The same of bytes. Absent: the platform is asked, which costs more than the digest where contents are small and many. */
  sha256Bytes?(bytes: Uint8Array): string;
}

/** A compiled JSON Schema. It must not change the value. */
export type Validator = (value: unknown) => readonly SchemaProblem[];

/** One violation: a JSON pointer into the value ("" is the root) and the validator's words. */
export type SchemaProblem = { readonly pointer: string; readonly text: string };

/** Compiles foreign JSON Schema. */
export interface Schemas {
  /** Throws with the compiler's words for a schema that does not compile; never returns a validator that skips what it did not understand. */
  compile(schema: JsonSchema): Validator;
}

/** What the runtime learns about a request by looking at the world, before anyone judges it. */
export type RequestFacts = {
  /** At least one. */
  readonly units: readonly Unit[];
  readonly binds: Readonly<Record<string, string>>;
  /** Every location is inside the workspace after resolving links; unknown is false. */
  readonly insideWorkspace?: boolean;
  readonly planFile?: boolean;
  /** Proven to change nothing. */
  readonly safe?: boolean;
  readonly planDigest?: string;
  /** The very object that is judged, for a body to run from when rules alone let the call pass. Never stored. */
  readonly plan?: unknown;
  /** Shown to the person who is asked: paths, command, host. */
  readonly view?: Json;
};

/** Looks at files and texts a request speaks of. It starts nothing and writes nothing. A throw leads to an ask, never to an effect. */
export type Facts = (request: {
  readonly tool: string;
  readonly kind: Kind;
  readonly input: JsonObject;
  readonly cwd: string;
  /** Undefined: the tool could not tell. */
  readonly locations: readonly Location[] | undefined;
}) => Maybe<RequestFacts>;

/** A rule text that was understood. `covers` reads it narrowly, as an allow. */
export type GrantRule = { readonly text: string; readonly covers: (request: Request, unit: Unit) => boolean };

/** The notation of remembered answers. */
export interface Rules {
  /** Throws with a sentence for a text that is no rule. */
  parse(text: string): GrantRule;
  /** The narrowest rules an "always" for this request would store; empty when none may be offered. */
  offer(request: Request): readonly string[];
}

/** Everything that judges a batch, taken at one moment so that two revisions never mix. */
export type Policy = {
  /** Digest of all effective rules in order. */
  readonly revision: string;
  readonly mode: string;
  readonly checkers: readonly NamedChecker[];
  readonly safeguards: readonly Safeguard[];
  /** False: the read-only hint counts for nothing. */
  readonly honourReadOnlyHint: boolean;
  /** Absent: nothing is staged but what its tool always stages, and both may resolve. */
  readonly proposals?: {
    readonly resolver: "both" | "model" | "person";
    /** True: a call that would run directly is staged instead. */
    readonly stages: (request: Request) => boolean;
  };
};

/** Where the present policy comes from. */
export interface PolicySource {
  /** A throw denies every call of the batch. */
  current(): Policy;
  /** Calls `changed` after every change of the policy. The returned function ends it. */
  subscribe(changed: () => void): () => void;
}

/** An approval as it is shown to people. */
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
  /** What was found out about the request beyond its text. */
  readonly facts?: Json;
  readonly expiresAt: string | null;
  readonly agentName?: string;
};

/** Carries an open approval to a person. */
export interface Approver {
  /** False if no person can be reached this way now; then `onAsk` decides. */
  available(): boolean;
  /**
   * Shows the approval and resolves with the person's answer, or with undefined when this way gives none: then `onAsk` decides. An answer that names another approval counts for nothing.
   * It must stop asking when the signal aborts (somebody else answered, the call was cancelled). A throw or a nonsense answer never approves: after
   * a throw, or the third nonsense answer, `onAsk` decides.
   */
  ask(approval: OpenApproval, signal: AbortSignal): Promise<Answer | undefined>;
}

/** A growing file that takes the full output of one call. */
export interface SpillFile {
  readonly path: string;
  /** Appends; past the file's limit it writes the limit's mark once and drops the rest. Rejects when the disk refuses. */
  write(chunk: string | Uint8Array): Promise<void>;
  end(): Promise<Spilled>;
}

/** A directory by its real path, and which one it was when it was looked at. */
type Anchor = { readonly path: string; readonly device: string; readonly inode: string };

/** Files the runtime itself writes. Nothing else in the project renames. */
export interface Files {
  /** A new file of mode 0600 in the session's output directory, with an unpredictable name. */
  spill(sessionId: string, callId: string): Promise<SpillFile>;
  /**
   * Replaces a whole file atomically (temporary file, fsync, rename), parent directories made; the old bytes stay whole on any failure and no temporary file is left.
   * With an `anchor` the path is a real one below that directory: if it is another directory by now, or a link leads away below it, nothing is written (code `ERR_PLACE_CHANGED`).
   */
  replace(path: string, bytes: string | Uint8Array, options?: { readonly mode?: number; readonly anchor?: Anchor }): Promise<void>;
}

/** A program to start in a process group of its own. */
export type ProcessSpec = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly onOutput?: (chunk: string) => void;
  /** Called with the child's identity before its output is read; the child is killed if this rejects. */
  readonly onStart?: (process: TaskProcess) => Promise<void>;
  /** Where output goes that exceeds what is held in memory. */
  readonly spill?: () => Promise<SpillFile>;
  /** All output goes there as it comes, and little of it is held. */
  readonly spillsAll?: boolean;
  /** `run` alone: the program has a terminal of this size for input, output and error, and is hung up on when its leader exits. It rejects where there are no terminals. */
  readonly pty?: { readonly columns: number; readonly rows: number };
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
  readonly spilled?: Spilled;
  /** Processes of its groups that run on: they could not be killed, or it exited without them. */
  readonly survivors: readonly number[];
};

/** The only redirections a program of a list may have. They count in the order given: `>/dev/null 2>&1` is not `2>&1 >/dev/null`. */
export type StepRedirection = "2>&1" | "1>&2" | ">/dev/null" | "2>/dev/null" | "</dev/null";

/** One program of a pipeline, by its absolute file. No shell reads any of it. */
export type PlanProgram = {
  readonly file: string;
  readonly args: readonly string[];
  /** The name it is called by; its file when absent. A program behind a gate is always called by its file. */
  readonly argv0?: string;
  readonly cwd: string;
  readonly redirections: readonly StepRedirection[];
  /** It begins only when its start is on record. */
  readonly gated?: boolean;
  /** Asked before anything of the list starts, and again right before this program begins. False: it is not the program that was meant. */
  readonly unchanged?: () => boolean;
  /** Makes the arguments right before the program starts, in place of `args`. A rejection means that it must not run. */
  readonly prepare?: (signal: AbortSignal) => Promise<readonly string[]>;
};

/** A change of directory: no process. It succeeds where there is a directory one may enter; programs have their own `cwd`. */
export type PlanEntry = { readonly enter: string; readonly redirections: readonly StepRedirection[] };

/** A pipeline, and on which status of the step that ran before it it depends. */
export type PlanStep = { readonly when: "always" | "success" | "failure"; readonly pipeline: readonly (PlanProgram | PlanEntry)[] };

/** Programs joined as a shell joins them by `;`, `&&`, `||` and `|`. */
export type StepsSpec = Omit<ProcessSpec, "file" | "args" | "cwd"> & { readonly steps: readonly PlanStep[] };

/** How a list ended: with the status of the last step that ran. */
export type StepsEnd = ProcessEnd & {
  /** A program that was not run, and nothing after it: another file stands in its place, or it could not be prepared. `ran`: earlier steps had run by then. */
  readonly refused?: { readonly file: string; readonly reason: "changed" | "unprepared"; readonly message: string; readonly ran: boolean };
};

/** What was left of groups of processes. */
export type LeftOver = {
  /** Something still ran. */
  readonly found: boolean;
  /** Processes that still run: they could not be ended, or their owner is unclear. */
  readonly survivors: readonly number[];
};

/** Starts programs. Nothing else in the project spawns. */
export interface Processes {
  /** Rejects only if the program cannot be started. On abort or timeout the whole group, and processes that left it, get SIGTERM, then SIGKILL after 2 s. */
  run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessEnd>;
  /**
   * Runs pipelines one after the other, each program in a group of its own; a pipeline's status is that of its last program. One time limit and one output for all; after
   * an abort or the time limit no further step starts. `onStart` is called once per step, with the first gated program, else with the first, and with the rest of its pipeline as the others. A program that the system
   * refuses to start counts as ended with 126 or 127 and is named in the output. Rejects with what `onStart` or `onOutput` threw, or when there is no place for pipes.
   */
  runSteps(spec: StepsSpec, signal: AbortSignal): Promise<StepsEnd>;
  /** The start time of a live process as the system tells it, or undefined when there is none. Pid and start time together name a process. */
  startOf(pid: number): string | undefined;
  /** Ends what is left of a process and its others, which an earlier process started, and of all they started. What may be another's is never signalled. */
  endLeftOver(process: TaskProcess): Promise<LeftOver>;
  /** Until the returned function is called, what is left of a process and its others is ended with this one, should this one end at once. */
  endWithUs(process: TaskProcess): () => void;
}

/** Users' programs and functions. Failing closed where an event can block is the runner's duty; a throw of the port itself counts as a deny. */
export interface Hooks {
  /** Undefined if no hook of this event applies. */
  consult(event: HookEvent, input: JsonObject, signal: AbortSignal): Promise<HookOpinion | undefined>;
  /** Whether any hook of this event may look at calls of this tool; absent counts as yes. Streaming updates are withheld where a transform may follow. */
  readonly applies?: (event: HookEvent, tool: string) => boolean;
  /** Fire and forget: it cannot change anything. */
  tell(event: HookNotice, input: JsonObject): void;
}

/** A span, as OpenTelemetry's `Span` has it. */
export interface Span {
  setAttribute(key: string, value: string | number | boolean): unknown;
  addEvent(name: string, attributes?: Record<string, string | number | boolean>): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  spanContext(): unknown;
  end(endTime?: number): void;
}

/** A tracer: any OpenTelemetry `Tracer` is one. A throw changes nothing. */
export interface Tracer {
  startSpan(
    name: string,
    options?: { kind?: number; attributes?: Record<string, string | number | boolean>; links?: { context: never }[]; startTime?: number },
  ): Span;
}

/** The call a hook may be about, as far as a rule can look at it before anyone judges. */
export type HookSubject = { readonly tool: string; readonly kind: Kind; readonly input: JsonObject; readonly cwd: string };

/** What a hook runs: a program (by the shell, or directly where there are `args`), or a function known by name. */
export type HookBody =
  | {
      readonly type: "command";
      readonly command: string;
      readonly args?: readonly string[];
      /** Variables with their values. */
      readonly env?: Readonly<Record<string, string>>;
      /** Names passed on although they are secret or never passed. */
      readonly passEnv?: readonly string[];
    }
  | { readonly type: "function"; readonly function: string };

/** One configured hook, understood and ready to be run. */
export type HookEntry = {
  readonly event: HookPoint;
  /** For messages. */
  readonly name: string;
  readonly source: Scope;
  readonly body: HookBody;
  /** The compiled matcher; absent: all. */
  readonly matches?: (value: string) => boolean;
  /** The compiled `if` rule, read broadly; a throw counts as yes. */
  readonly test?: (subject: HookSubject) => Maybe<boolean>;
  readonly timeoutMs: number;
  readonly onFailure: "block" | "warn";
  /** The runtime does not wait for it and ignores its result. */
  readonly async: boolean;
  /** The definition but for its name, in one spelling: hooks of equal definitions run once. */
  readonly definition: string;
};

/** A hook in this process: the input is deep-frozen, `undefined` is no opinion, anything but an object of the documented fields is a failure. */
export type HookFunction = (input: JsonObject, context: { readonly signal: AbortSignal }) => unknown;

import type { Answer } from "./model/answer.ts";
import type { ConfirmationDetails } from "./model/confirmation.ts";
import type { Guard, NamedChecker, RuleRef, Verdict } from "./model/decision.ts";
import type { Json, JsonObject } from "./model/json.ts";
import type { Kind } from "./model/kind.ts";
import type { Request, Unit } from "./model/request.ts";
import type { Content, Spilled } from "./model/result.ts";
import type { JsonSchema, Location, Maybe } from "./tool-definition.ts";

/** Time. `now` is milliseconds since 1970 and may jump; timers must not be shortened or lengthened by such a jump. */
export interface Clock {
  now(): number;
  /** Calls `fire` once, not before `ms` have passed. The returned function cancels it and may be called at any time. Must not keep a process alive by itself. */
  timer(ms: number, fire: () => void): () => void;
}

/** Names for new things. Two calls never return the same id, in this process or any other that shares a ledger. */
export interface Ids {
  /** `prefix` followed by random characters of `[a-z2-7]`: `s_`, `a_`, `g_`, … */
  next(prefix: string): string;
}

/** SHA-256 of the UTF-8 bytes of a text, as lower-case hex. Deterministic; must not throw for any string. */
export interface Digest {
  sha256(text: string): string;
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
  /** Shown to whoever is asked: paths, command, host. */
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
  readonly guards: readonly Guard[];
  /** False: the read-only hint counts for nothing. */
  readonly honourReadOnlyHint: boolean;
};

/** Where the present policy comes from. */
export interface PolicySource {
  /** A throw denies every call of the batch. */
  current(): Policy;
  /** Calls `changed` after every change of the policy. The returned function ends it. */
  subscribe(changed: () => void): () => void;
}

/** An approval as it is shown to whoever may answer it. */
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
  readonly expiresAt: string | null;
  readonly agentName?: string;
};

/** Carries an open approval to a person. */
export interface Approver {
  /** False: nobody can be reached this way now, and `onAsk` decides. */
  available(): boolean;
  /**
   * Shows the approval and resolves with the person's answer, or with undefined when this way gives none: the approval then stays open for others.
   * It must stop asking when the signal aborts (somebody else answered, the call was cancelled). A throw, a nonsense answer or silence never approves.
   */
  ask(approval: OpenApproval, signal: AbortSignal): Promise<Answer | undefined>;
}

/** A growing file that takes the full output of one call. */
export interface SpillFile {
  /** Appends; past the file's limit it writes the limit's mark once and drops the rest. Rejects when the disk refuses. */
  write(chunk: string | Uint8Array): Promise<void>;
  end(): Promise<Spilled>;
}

/** Files the runtime itself writes. Nothing else in the project renames. */
export interface Files {
  /** A new file of mode 0600 in the session's output directory, under a name nobody can foresee. */
  spill(sessionId: string, callId: string): Promise<SpillFile>;
  /** Replaces a whole file atomically (temporary file, fsync, rename), parent directories made; the old bytes stay whole on any failure and no temporary file is left. */
  replace(path: string, bytes: string | Uint8Array, options?: { readonly mode?: number }): Promise<void>;
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
  readonly onStart?: (process: { readonly pid: number; readonly pgid: number; readonly processStart: string }) => Promise<void>;
  /** Where output goes that exceeds what is held in memory. */
  readonly spill?: () => Promise<SpillFile>;
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
  /** Processes of the group that could not be killed. */
  readonly survivors: readonly number[];
};

/** Starts programs. Nothing else in the project spawns. */
export interface Processes {
  /** Rejects only when the program cannot be started. On abort or timeout the whole group gets SIGTERM, then SIGKILL after 2 s. */
  run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessEnd>;
  /** The start time of a live process as the system tells it, or undefined when there is none. Pid and start time together name a process. */
  startOf(pid: number): string | undefined;
  /** Ends a whole group left by an earlier process, if its leader still has this start time. False: it could not be ended. */
  killGroup(pgid: number, processStart: string): Promise<boolean>;
}

/** Points at which hooks are consulted or told. */
export type HookEvent =
  | "pre_tool_use"
  | "permission_request"
  | "tool_response_transform"
  | "post_tool_use"
  | "post_tool_use_failure"
  | "post_tool_batch";

/** Points at which hooks are only told. */
export type HookNotice = "permission_denied" | "on_tool_approval_decision" | "on_user_input";

/** The combined answer of all hooks of one event. Fields an event does not use are ignored. */
export type HookOpinion = {
  readonly verdict: Verdict | "none";
  /** The first hook that gave the winning verdict. */
  readonly name: string;
  readonly reason?: string;
  readonly updatedInput?: JsonObject;
  readonly updatedOutput?: Content;
  readonly context?: string;
  readonly feedback?: string;
  readonly stop?: string;
  readonly interrupt?: boolean;
};

/** Users' programs and functions. Failing closed where an event can block is the runner's duty; a throw of the port itself counts as a deny. */
export interface Hooks {
  /** Undefined when no hook of this event applies, so that nothing is built for nobody. */
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

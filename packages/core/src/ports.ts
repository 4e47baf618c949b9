import type { Answer } from "./model/answer.ts";
import type { ConfirmationDetails, WiderRules } from "./model/confirmation.ts";
import type { NamedChecker, RuleRef, Safeguard, Scope } from "./model/decision.ts";
import type { HookOpinion } from "./model/hooks/combine.ts";
import type { HookEvent, HookNotice, HookPoint } from "./model/hooks/event-table.ts";
import type { Json, JsonObject } from "./model/json/json.ts";
import type { Kind } from "./model/kind.ts";
import type { Containment, Request, Unit } from "./model/request.ts";
import type { SpilledOutput } from "./model/result/result.ts";
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

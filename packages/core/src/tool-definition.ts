import type { ConfirmationDetails } from "./model/confirmation.ts";
import type { Verdict } from "./model/decision.ts";
import type { ShownEffect } from "./model/effect-preview.ts";
import type { Json, JsonObject } from "./model/json/json.ts";
import type { Kind } from "./model/kind.ts";
import type { Containment } from "./model/request.ts";
import type { Display, ToolOutput, ToolResult } from "./model/result/result.ts";
import type { Coercion } from "./model/schema/coerce.ts";
import type { TaskProcess } from "./model/task/events.ts";
import type { InferOutput, StandardSchema } from "./standard-schema.ts";

/** A value or a promise of it. */
export type Maybe<T> = T | Promise<T>;

/** A JSON Schema as data. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** What a call does to a file. */
export type PathUse = "read" | "write" | "remove";

/** A file a call touches; `line` counts from 1. */
export type Location = {
  readonly path: string;
  readonly line?: number;
  /** Absent: what the tool's kind says. */
  readonly use?: PathUse;
  /** The argument that names it, if it is not simply the path as written. */
  readonly argument?: string;
};

/** Where a call is made. */
export type CallContext = { readonly cwd: string; readonly callId: string; readonly sessionId: string; readonly agentName?: string };

/** The context of a pending action's callback; after `commit` it can no longer be cancelled. */
export type ResolveContext = {
  readonly signal: AbortSignal;
  readonly commit: () => void;
  readonly proposalId: string;
  /** Judges a nested action like a call; rejects if denied, and always if no model call settles the action. */
  readonly gate: RunContext["gate"];
};

/** Settles a pending action for the given reason. */
export type ResolveCallback<R = ToolOutput> = (reason: string, extra: JsonObject | undefined, ctx: ResolveContext) => Maybe<R>;

/** An action that waits to be applied or discarded by code of this process. */
export type PendingAction = {
  /** One line, 1 to 200 characters. */
  readonly label: string;
  readonly apply: ResolveCallback;
  /** A returned result replaces the default text. */
  readonly reject?: ResolveCallback<ToolOutput | undefined>;
  /** Defaults to `custom_tool`. */
  readonly sourceToolName?: string;
  /** JSON of at most 64 KiB, kept with the proposal and shown in its preview. */
  readonly details?: unknown;
};

/** A pending action with its id; `staged` settles once it is recorded, and the staging call waits for that. */
export type QueuedAction = { readonly id: string; readonly staged: Promise<void> };

/** What a body may do besides returning. */
export type RunContext = CallContext & {
  /** The mode in which the call was judged. */
  readonly mode: string;
  readonly signal: AbortSignal;
  /** Replaces the live display; never throws, ignored after the end. */
  readonly update: (display: Display) => void;
  /** Judges a nested action like a call; rejects if denied. */
  readonly gate: (call: { readonly name: string; readonly arguments: unknown }) => Promise<ToolResult>;
  /** 1, or 2 for the one retry with the same key after a crash. */
  readonly attempt: number;
  readonly idempotencyKey: string | null;
  /** Where the call was judged to run. A body that cannot run there must not run. */
  readonly containment?: Containment;
  /** Rules or remembered rules alone allowed the call; no person saw it. A body that runs text must run `plan`, or nothing. */
  readonly allowedByRules?: true;
  /** The parsed request, set with `allowedByRules` if the facts have one; the body must run exactly this. */
  readonly plan?: unknown;
  /** Records which process the effect runs in; resolves when it is on disk. */
  readonly started: (process: TaskProcess) => Promise<void>;
  /**
   * Stages an action that `resolve` applies or discards later. Throws `ToolError`: `staging_unavailable`, or
   * `no_running_call` once the call has ended.
   */
  readonly pushPendingAction: (action: PendingAction) => QueuedAction;
};

/** Identifies an outside effect after a crash. */
export type RecoveryContext = CallContext & {
  /** SHA-256 over store id, session, call and fingerprint; the same for every attempt of this call. */
  readonly callKey: string;
};

/** What a probe found out about an effect of which only the claim is on disk. `failed`: it ran and reported an error. */
export type ProbeAnswer = {
  readonly state: "applied" | "failed" | "not_applied" | "unknown";
  readonly content?: string;
  readonly evidence?: Json;
  /** The program that ran the effect and reported its result; absent if the probe looked for itself. */
  readonly reportedBy?: string;
};

/** The planned change of one file with both contents; null means absent. Paths are absolute. */
export type PlannedChange = {
  readonly path: string;
  /** Where the path leads, links resolved. */
  readonly realPath: string;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  /** Moves the file here with its new content. */
  readonly to?: string;
  /** Permission bits; default to those of the existing file, or the system's. */
  readonly mode?: number;
};

/** What is at a path: the bytes of a file, a symbolic link or a directory; null means nothing. */
export type PathContent = Uint8Array | { readonly link: string } | "directory" | null;

/** The change of one path that a call made on a copy of the workspace. */
export type PathChange = Omit<PlannedChange, "before" | "after"> & {
  readonly before: PathContent;
  readonly after: PathContent;
  /** Permission bits before and after, if they are part of the change. */
  readonly modes?: { readonly before: number | null; readonly after: number | null };
};

/** What a call would do, as data that survives the process. */
export type Preview = {
  /** One line for people: "Edit: src/a.ts". */
  readonly label: string;
  /** The full text of each change; the model sees as many as fit. */
  readonly blocks: readonly string[];
  readonly changes: readonly PlannedChange[];
  /** Kept for `apply`. */
  readonly data?: Json;
  /** For programs, with the result of the staging call. */
  readonly details?: Json;
  /** For people, with the result of a call that is applied at once. */
  readonly display?: Display;
};

/** What a call did on a copy of the workspace. */
export type EffectPreview = Omit<ShownEffect, "id" | "durationMs"> & {
  /** One line for people: "Run npm test". */
  readonly label: string;
  /** All changes with their contents; empty if they cannot be written. */
  readonly planned: readonly PathChange[];
  /** The result for the model, if a person lets the changes be written. */
  readonly result: string;
};

/** Shows what a call does by running it where it changes nothing. */
export type EffectPreviewer<I> = {
  /** Why this call cannot be previewed, as a sentence; undefined if it can. */
  readonly unavailable: (input: I, ctx: CallContext) => Maybe<string | undefined>;
  /** Must leave the world as it was, also when cancelled or killed. */
  readonly run: (input: I, ctx: CallContext & { readonly signal: AbortSignal }) => Promise<EffectPreview>;
};

/** A preview that is being applied. */
export type AppliedPreview = {
  readonly proposalId: string;
  readonly label: string;
  readonly data?: Json;
  readonly details?: Json;
  readonly display?: Display;
  /** The files as they are now, with `sha256:` digests; "absent" for one that was removed. */
  readonly files: readonly { readonly path: string; readonly digest: string }[];
  readonly reason: string;
  readonly extra?: JsonObject;
};

/** MCP's hints; an absent hint means the worst case. */
export type Annotations = {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
};

/** A tool as its author writes it; unknown fields are refused. */
export type ToolDefinition<S extends StandardSchema | JsonSchema = JsonSchema, I = InferOutput<S>> = {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly kind: Kind;
  readonly input: S;
  readonly inputSchema?: JsonSchema;
  readonly inputAliases?: Readonly<Record<string, string>>;
  /** What else identifies the tool, such as the server that runs it. An answer given for another origin does not cover its calls. */
  readonly origin?: string;
  /** Arguments whose values are paths, so that rules read them as paths; `locations` reports these paths. Absent: those with usual names. */
  readonly pathArguments?: Readonly<Record<string, PathUse>>;
  readonly check?: (input: I) => string | undefined;
  readonly describe?: (input: I, ctx: CallContext) => string;
  readonly locations?: (input: I, ctx: CallContext) => readonly Location[];
  readonly permission?: (input: I, ctx: CallContext) => Maybe<Verdict>;
  readonly safe?: (input: I, ctx: CallContext) => boolean;
  /**
   * Why the call would certainly fail now, as the result that the model gets; undefined if it may succeed. It changes nothing and shows nothing
   * that the model could not know. A person is not asked about such a call.
   */
  readonly fails?: (input: I, ctx: CallContext) => Maybe<ToolResult | undefined>;
  readonly confirm?: (input: I, ctx: CallContext, signal: AbortSignal) => Maybe<ConfirmationDetails>;
  readonly modify?: {
    readonly current: (input: I) => Maybe<string>;
    readonly proposed: (input: I) => Maybe<string>;
    readonly withContent: (input: I, content: string) => I;
  };
  /** Finds out what the call would change without changing it; a plain result ends the call. */
  readonly preview?: (input: I, ctx: RunContext) => Maybe<Preview | ToolResult | string>;
  /**
   * Describes what was applied. If the preview has changes, the runtime makes them first and a throw loses only the
   * text. Otherwise this is the effect itself, made from `data`, possibly in another process.
   */
  readonly apply?: (applied: AppliedPreview, ctx: RunContext) => Maybe<ToolOutput>;
  /** Runs the call on a copy of the workspace, for a person who is asked about it. */
  readonly effectPreview?: EffectPreviewer<I>;
  /** Calls are never applied at once, regardless of settings. */
  readonly alwaysStages?: boolean;
  readonly run?: (input: I, ctx: RunContext) => Maybe<ToolOutput>;
  readonly runtimeHandler?: string;
  /** Text displays of this tool are markdown; defaults to true. */
  readonly isOutputMarkdown?: boolean;
  readonly canUpdateOutput?: boolean;
  readonly hidden?: boolean;
  readonly pollSafe?: boolean;
  readonly annotations?: Annotations;
  readonly modelOverride?: string;
  readonly timeoutMs?: number;
  readonly maxOutputChars?: number;
  readonly maxOutputLines?: number;
  readonly keep?: "head" | "tail" | "both";
  readonly idempotencyKey?: (input: I, ctx: RecoveryContext) => Maybe<string>;
  readonly probe?: (input: I, ctx: RecoveryContext) => Maybe<ProbeAnswer>;
};

/** The tool's own opinion on one input; `declared` is false if the definition has no `permission`. */
export type ToolOpinion = { readonly verdict: Verdict; readonly declared: boolean; readonly note?: string };

/** A validated, deep-frozen input bound to its tool and ready to run. */
export type Invocation = {
  readonly input: JsonObject;
  readonly coercions: readonly Coercion[];
  /** Problems so far that do not change the outcome, such as dropped details. */
  readonly warnings: readonly string[];
  readonly describe: () => string;
  /** Undefined if the tool could not tell, so nothing is known to be inside the workspace. */
  readonly locations: () => readonly Location[] | undefined;
  readonly permission: () => Promise<Verdict>;
  readonly opinion: () => Maybe<ToolOpinion>;
  /** True only if this input is proven to change nothing. */
  readonly safe: () => boolean;
  /** What the author's `fails` says; undefined if it throws or says nothing valid. */
  readonly failure?: () => Promise<ToolResult | undefined>;
  /** The author's own details, if declared; rejects with what `confirm` throws. */
  readonly confirmation: (signal: AbortSignal) => Promise<ConfirmationDetails | undefined>;
  readonly execute: (signal: AbortSignal, update?: (display: Display) => void, ctx?: Partial<RunContext>) => Promise<ToolResult>;
};

/** A checked and frozen tool. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  /** Same as `title`. */
  readonly displayName: string;
  readonly description: string;
  readonly kind: Kind;
  /** The schema shown to the model. */
  readonly inputSchema: JsonSchema;
  readonly schemaIsRecursive: boolean;
  readonly definition: ToolDefinition;
  readonly hidden: boolean;
  readonly pollSafe: boolean;
  readonly readOnlyHint: boolean;
  /** Throws `Error(message)` for an invalid input; returns a promise only if the schema is asynchronous. */
  readonly build: (input: unknown, ctx?: CallContext) => Maybe<Invocation>;
};

import type { ConfirmationDetails } from "./model/confirmation.ts";
import type { Verdict } from "./model/decision.ts";
import type { Json, JsonObject } from "./model/json/json.ts";
import type { Kind } from "./model/kind.ts";
import type { Display, ToolResult } from "./model/result/result.ts";
import type { TaskProcess } from "./model/task/events.ts";
import type { InferOutput, StandardSchema } from "./standard-schema.ts";

/** A value now or later. */
export type Maybe<T> = T | Promise<T>;

/** A JSON Schema as data. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** A file a call touches; `line` counts from 1. */
export type Location = { readonly path: string; readonly line?: number };

/** Where a call is made. */
export type CallContext = { readonly cwd: string; readonly callId: string; readonly sessionId: string; readonly agentName?: string };

/** What a callback of a pending action receives. After `commit` a cancel comes too late. */
export type ResolveContext = {
  readonly signal: AbortSignal;
  readonly commit: () => void;
  readonly proposalId: string;
  /** Puts a nested action through the same gate; a denial rejects, and so does everything where no call of a model settles the action. */
  readonly gate: RunContext["gate"];
};

/** Settles a pending action, with the reason given for it. */
export type ResolveCallback<R = ToolResult | string> = (reason: string, extra: JsonObject | undefined, ctx: ResolveContext) => Maybe<R>;

/** An action that waits to be applied or discarded, carried by code of this process. */
export type PendingAction = {
  /** One line, 1 to 200 characters. */
  readonly label: string;
  readonly apply: ResolveCallback;
  /** A returned result replaces the plain words. */
  readonly reject?: ResolveCallback<ToolResult | string | undefined>;
  /** `custom_tool` when absent. */
  readonly sourceToolName?: string;
  /** JSON of at most 64 KiB, kept with the proposal and shown in its preview. */
  readonly details?: unknown;
};

/** A pending action that has its id; `staged` settles when it is on record. The call that pushed it waits for that before it ends. */
export type QueuedAction = { readonly id: string; readonly staged: Promise<void> };

/** What a body may do besides returning. */
export type RunContext = CallContext & {
  readonly signal: AbortSignal;
  /** Replaces the live display; never throws, ignored after the end. */
  readonly update: (display: Display) => void;
  /** Puts a nested action through the same gate; a denial rejects. */
  readonly gate: (call: { readonly name: string; readonly arguments: unknown }) => Promise<ToolResult>;
  /** 1, or 2 for the one retry with the same key after a crash. */
  readonly attempt: number;
  /** What the tool's `idempotencyKey` returned for this call. */
  readonly idempotencyKey: string | null;
  /** How the request was parsed, given if rules, a pattern grant, the tool or its hint allowed the call. No person saw the text, so the body runs only this. */
  readonly plan?: unknown;
  /** Tells the ledger which process the effect runs in; resolves when it is recorded. */
  readonly started: (process: TaskProcess) => Promise<void>;
  /** Stages an action that `resolve` applies or discards later. Throws `ToolError`: `staging_unavailable`, or `no_running_call` once the call has ended. */
  readonly pushPendingAction: (action: PendingAction) => QueuedAction;
};

/** What an outside effect is known by after a crash. */
export type RecoveryContext = CallContext & {
  /** SHA-256 over store id, session, call and fingerprint: the same for every attempt of this call. */
  readonly callKey: string;
};

/** What a probe found out about an effect of which only the intent is on disk. */
export type ProbeAnswer = { readonly state: "applied" | "not_applied" | "unknown"; readonly content?: string; readonly evidence?: Json };

/** What would become of one file. Both sides in full; null: the file is not there. Paths are absolute. */
export type PlannedChange = {
  readonly path: string;
  /** Where the path leads, links resolved. */
  readonly realPath: string;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  /** The new content goes to this place, and the old one goes away. */
  readonly to?: string;
  /** Permission bits; where absent those of the file that is there, or the system's default. */
  readonly mode?: number;
};

/** What a call would do: data, so that it survives the process. */
export type Preview = {
  /** One line for people: "Edit: src/a.ts". */
  readonly label: string;
  /** Every change in full, one text per change; the model is shown as many as fit. */
  readonly blocks: readonly string[];
  readonly changes: readonly PlannedChange[];
  /** Kept for `apply`. */
  readonly data?: Json;
  /** For programs, with the result of the staging call. */
  readonly details?: Json;
  /** For people, with the result of a call that is applied at once. */
  readonly display?: Display;
};

/** A preview whose time has come. */
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

/** MCP's hints. Absent means the worst case. */
export type Annotations = {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
};

/** A declared capability, as its author writes it. Unknown fields are refused. */
export type ToolDefinition<S extends StandardSchema | JsonSchema = JsonSchema, I = InferOutput<S>> = {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly kind: Kind;
  readonly input: S;
  readonly inputSchema?: JsonSchema;
  readonly inputAliases?: Readonly<Record<string, string>>;
  readonly check?: (input: I) => string | undefined;
  readonly describe?: (input: I, ctx: CallContext) => string;
  readonly locations?: (input: I, ctx: CallContext) => readonly Location[];
  readonly permission?: (input: I, ctx: CallContext) => Maybe<Verdict>;
  readonly safe?: (input: I, ctx: CallContext) => boolean;
  readonly confirm?: (input: I, ctx: CallContext, signal: AbortSignal) => Maybe<ConfirmationDetails>;
  readonly modify?: {
    readonly current: (input: I) => Maybe<string>;
    readonly proposed: (input: I) => Maybe<string>;
    readonly withContent: (input: I, content: string) => I;
  };
  /** Finds out what the call would change, and changes nothing. A plain result (nothing to do, a failure) ends the call. */
  readonly preview?: (input: I, ctx: RunContext) => Maybe<Preview | ToolResult | string>;
  /**
   * Says what was applied. Where the preview has changes, they are made by the runtime before this is asked, and a throw costs only the words;
   * where it has none, this is the effect itself, made from the preview's `data`, possibly in another process.
   */
  readonly apply?: (applied: AppliedPreview, ctx: RunContext) => Maybe<ToolResult | string>;
  /** A call of this tool is never applied at once, regardless of settings. */
  readonly alwaysStages?: boolean;
  readonly run?: (input: I, ctx: RunContext) => Maybe<ToolResult | string>;
  readonly runtimeHandler?: string;
  /** Whether text displays of this tool are markdown; true when absent. */
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

/** One deviation from what the model sent. */
export type Coercion = {
  readonly path: string;
  readonly from: Json;
  readonly to: Json;
  readonly rule: "boolean" | "string" | "json" | "number" | "alias" | "schema";
};

/** The tool's own opinion on one input. `declared` is false when the definition has no `permission`: the judge is then given none. */
export type ToolOpinion = { readonly verdict: Verdict; readonly declared: boolean; readonly note?: string };

/** Untrusted input turned into something that can run: validated, deep-frozen, bound to its tool. */
export type Invocation = {
  readonly input: JsonObject;
  readonly coercions: readonly Coercion[];
  /** What went wrong without changing the outcome, as far as it has come: a description that failed, details that were dropped. */
  readonly warnings: readonly string[];
  readonly describe: () => string;
  /** Undefined: the tool could not tell, so nothing is known to be inside the workspace. */
  readonly locations: () => readonly Location[] | undefined;
  readonly permission: () => Promise<Verdict>;
  readonly opinion: () => Maybe<ToolOpinion>;
  /** True only when this very input is proven to change nothing. */
  readonly safe: () => boolean;
  /** The author's own details; rejects with what `confirm` throws. Undefined: none declared. */
  readonly confirmation: (signal: AbortSignal) => Promise<ConfirmationDetails | undefined>;
  readonly execute: (signal: AbortSignal, update?: (display: Display) => void, ctx?: Partial<RunContext>) => Promise<ToolResult>;
};

/** A declared capability, checked and frozen. */
export type Tool = {
  readonly name: string;
  readonly title: string;
  /** The same as `title`. */
  readonly displayName: string;
  readonly description: string;
  readonly kind: Kind;
  /** What the model is shown. */
  readonly inputSchema: JsonSchema;
  readonly schemaIsRecursive: boolean;
  readonly definition: ToolDefinition;
  readonly hidden: boolean;
  readonly pollSafe: boolean;
  readonly readOnlyHint: boolean;
  /** Throws `Error(message)` when the input is invalid; a promise only when the schema itself answers later. */
  readonly build: (input: unknown, ctx?: CallContext) => Maybe<Invocation>;
};

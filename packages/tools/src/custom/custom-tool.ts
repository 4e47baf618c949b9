import type {
  ContentPart,
  Json,
  JsonSchema,
  Kind,
  Maybe,
  PendingAction,
  ProbeAnswer,
  RecoveryContext,
  StandardSchema,
  Verdict,
} from "@assent/core";

/** The default export of a tool module. Called once per session. */
export type CustomToolFactory = (api: CustomToolApi) => Maybe<CustomTool | readonly CustomTool[]>;

/** A tool as its author writes it. `P` is the type of its validated parameters; `api.tool` infers it from the schema. */
export type CustomTool<P = Params> = {
  readonly name: string;
  /** Shown to people; defaults to `name`. */
  readonly label?: string;
  readonly description: string;
  readonly parameters: StandardSchema | JsonSchema;
  /** Defaults to `other`, which asks and runs alone. */
  readonly kind?: Kind;
  /** A hint; ignored for tools of a project. */
  readonly readOnly?: boolean;
  readonly hidden?: boolean;
  readonly pollSafe?: boolean;
  readonly timeoutMs?: number;
  /** Not called if the tool has a `preview`: the runtime makes the changes. Methods, so that authors can narrow the type of `params`. */
  execute?(toolCallId: string, params: P, onUpdate: OnUpdate, ctx: CustomToolContext, signal: AbortSignal): Promise<CustomResult | Json>;
  permission?(params: P): Verdict;
  /** Returns what a call would change, or a result if there is nothing to change. Must not change anything. */
  preview?(params: P, ctx: CustomToolContext): Maybe<CustomPreview | CustomResult>;
  /** Describes what was changed. If the preview has no changes, this is the effect itself. */
  apply?(applied: CustomApplied, ctx: CustomToolContext): Maybe<CustomResult | Json>;
  /** A key that identifies this call to an outside service. After a crash the call may run again with the same key, if settings allow it. */
  idempotencyKey?(params: P, ctx: RecoveryContext): string;
  /** After a crash: whether the effect happened. */
  probe?(params: P, ctx: RecoveryContext): Maybe<ProbeAnswer>;
  renderCall?(params: P): unknown;
  renderResult?(result: unknown): unknown;
};

/** Validated and frozen parameters of a call. */
export type Params = Readonly<Record<string, unknown>>;

/** A result in parts. A tool may also return any JSON value. */
export type CustomResult = { readonly content: readonly ContentPart[]; readonly details?: unknown; readonly isError?: boolean };

/** Shows people the progress of a call; each update replaces the previous one. */
export type OnUpdate = (soFar: string | CustomResult) => void;

/** A change to one file. Without `content` the file is renamed to `to` unchanged. */
export type CustomChange = {
  /** Relative to the session's working directory. */
  readonly path: string;
  /** Null deletes the file. */
  readonly content?: string | Uint8Array | null;
  readonly to?: string;
  /** Permission bits of a new file. */
  readonly mode?: number;
};

/** What a call would do. */
export type CustomPreview = {
  /** One line for people. */
  readonly label: string;
  readonly changes: readonly CustomChange[];
  /** One text per change, for people and the model; derived from the changes if absent. */
  readonly blocks?: readonly string[];
  /** Stored for `apply`, which may run in another process. */
  readonly data?: Json;
  readonly details?: Json;
};

/** A preview that is being applied. */
export type CustomApplied = {
  readonly label: string;
  readonly data?: Json;
  readonly details?: Json;
  /** The files as they are now; the digest is "absent" for a deleted file. */
  readonly files: readonly { readonly path: string; readonly digest: string }[];
  readonly reason: string;
};

/** Stages an action and returns its id. */
export type PushPendingAction = (action: PendingAction) => { readonly id: string };

/** The context of a call. */
export type CustomToolContext = {
  readonly cwd: string;
  readonly sessionId: string;
  readonly callId: string;
  /** The mode in which the call was judged. */
  readonly mode: string;
  readonly hasUI: boolean;
  readonly ui: CustomToolUi;
  readonly signal: AbortSignal;
  /** What `idempotencyKey` returned, or null. */
  readonly idempotencyKey: string | null;
  readonly pushPendingAction: PushPendingAction;
};

/** Lets a tool talk to the person. No answer here approves anything. */
export type CustomToolUi = {
  select(title: string, options: readonly string[]): Promise<string | undefined>;
  confirm(title: string, message?: string): Promise<boolean>;
  input(title: string, placeholder?: string): Promise<string | undefined>;
  editor(title: string, text?: string): Promise<string | undefined>;
  notify(message: string, level?: "info" | "warning" | "error"): void;
};

/** Options for running a program. */
export type ExecOptions = {
  readonly cwd?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Text for standard input. */
  readonly input?: string;
};

/** How a program ended; `code` is null if it was killed. */
export type ExecResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string; readonly killed: boolean };

/** Severity of a log line. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** The output type of a schema. */
export type OutputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

/** What a factory receives. */
export type CustomToolApi = {
  readonly cwd: string;
  /** Runs a program without a shell. Works only during a call of one of the module's tools. */
  readonly exec: (file: string, args?: readonly string[], options?: ExecOptions) => Promise<ExecResult>;
  readonly ui: CustomToolUi;
  readonly hasUI: boolean;
  readonly logger: Readonly<Record<LogLevel, (...words: readonly unknown[]) => void>>;
  readonly zod: typeof import("zod");
  /** Returns the tool unchanged and infers the type of `params` from its schema. */
  readonly tool: <S extends StandardSchema>(tool: CustomTool<OutputOf<S>> & { readonly parameters: S }) => CustomTool;
  /** For the running call. */
  readonly pushPendingAction: PushPendingAction;
};

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

/** What the default export of a tool module is: it is called once per session, with what a tool may use. */
export type CustomToolFactory = (api: CustomToolApi) => Maybe<CustomTool | readonly CustomTool[]>;

/** A tool as its author writes it. `P` is what its parameters are after validation; `api.tool` infers it from the schema. */
export type CustomTool<P = Params> = {
  readonly name: string;
  /** Shown to people; `name` when absent. */
  readonly label?: string;
  readonly description: string;
  readonly parameters: StandardSchema | JsonSchema;
  /** `other` when absent, which asks and runs alone. */
  readonly kind?: Kind;
  /** Only a hint, which a project's tool cannot give. */
  readonly readOnly?: boolean;
  readonly hidden?: boolean;
  readonly pollSafe?: boolean;
  readonly timeoutMs?: number;
  /** Not called where there is a `preview`: the runtime makes the changes. Written as methods, so that authors may say what their parameters are. */
  execute?(toolCallId: string, params: P, onUpdate: OnUpdate, ctx: CustomToolContext, signal: AbortSignal): Promise<CustomResult>;
  permission?(params: P): Verdict;
  /** What a call would change, or a result when there is nothing to change. It changes nothing itself. */
  preview?(params: P, ctx: CustomToolContext): Maybe<CustomPreview | CustomResult>;
  /** Says what was changed; the effect itself where the preview has no changes. */
  apply?(applied: CustomApplied, ctx: CustomToolContext): Maybe<CustomResult>;
  /** What the world outside knows this call by: after a crash it may be run once more with the same key, where settings say so. */
  idempotencyKey?(params: P, ctx: RecoveryContext): string;
  /** After a crash: whether the effect happened. */
  probe?(params: P, ctx: RecoveryContext): Maybe<ProbeAnswer>;
  renderCall?(params: P): unknown;
  renderResult?(result: unknown): unknown;
};

/** Validated and frozen parameters of a call. */
export type Params = Readonly<Record<string, unknown>>;

/** What a tool gives back. Nothing else counts as a result. */
export type CustomResult = { readonly content: readonly ContentPart[]; readonly details?: unknown; readonly isError?: boolean };

/** Shows people what a running call has come to: the whole so far. */
export type OnUpdate = (soFar: string | CustomResult) => void;

/** What would become of one file. Without `content` it keeps its own, under the name in `to`. */
export type CustomChange = {
  /** From the working directory of the session. */
  readonly path: string;
  /** Null: the file goes away. */
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
  /** One text per change, for people and the model; made from the changes when absent. */
  readonly blocks?: readonly string[];
  /** Kept for `apply`, which may run in another process. */
  readonly data?: Json;
  readonly details?: Json;
};

/** A preview whose time has come. */
export type CustomApplied = {
  readonly label: string;
  readonly data?: Json;
  readonly details?: Json;
  /** The files as they are now; "absent" for one that was removed. */
  readonly files: readonly { readonly path: string; readonly digest: string }[];
  readonly reason: string;
};

/** Stages an action, and says under which id. */
export type PushPendingAction = (action: PendingAction) => { readonly id: string };

/** Where a call runs. */
export type CustomToolContext = {
  readonly cwd: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly mode: string;
  readonly hasUI: boolean;
  readonly ui: CustomToolUi;
  readonly signal: AbortSignal;
  /** What `idempotencyKey` said; null: nothing. */
  readonly idempotencyKey: string | null;
  /** Bound to this call. */
  readonly pushPendingAction: PushPendingAction;
};

/** What a tool may ask people by itself. No answer here is an approval. */
export type CustomToolUi = {
  select(title: string, options: readonly string[]): Promise<string | undefined>;
  confirm(title: string, message?: string): Promise<boolean>;
  input(title: string, placeholder?: string): Promise<string | undefined>;
  editor(title: string, text?: string): Promise<string | undefined>;
  notify(message: string, level?: "info" | "warning" | "error"): void;
};

/** How a program is run. */
export type ExecOptions = {
  readonly cwd?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Given on standard input. */
  readonly input?: string;
};

/** How a program ended; no code: it was killed. */
export type ExecResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string; readonly killed: boolean };

/** How important a line of the log is. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What a schema gives after validation. */
export type OutputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

/** What a factory is given. */
export type CustomToolApi = {
  readonly cwd: string;
  /** Runs a program, without a shell. Only while a call of this module's tool runs. */
  readonly exec: (file: string, args?: readonly string[], options?: ExecOptions) => Promise<ExecResult>;
  readonly ui: CustomToolUi;
  readonly hasUI: boolean;
  readonly logger: Readonly<Record<LogLevel, (...words: readonly unknown[]) => void>>;
  readonly zod: typeof import("zod");
  /** Gives the tool back as it is, and infers the type of `params` from the schema in `parameters`. */
  readonly tool: <S extends StandardSchema>(tool: CustomTool<OutputOf<S>> & { readonly parameters: S }) => CustomTool;
  /** For the call that runs at this moment. */
  readonly pushPendingAction: PushPendingAction;
};

/** What a turn checks before it answers. Absent keys check nothing. */
export type Expectation = {
  /** A tool's name, `required`, `none`, or null if nothing is forced. */
  readonly toolChoice?: string | null;
  readonly result?: ExpectedResult;
  readonly results?: readonly ExpectedResult[];
  readonly reminders?: readonly ExpectedText[];
  readonly notices?: readonly ExpectedText[];
  readonly tools?: { readonly has?: readonly string[]; readonly hasNot?: readonly string[] };
  readonly model?: string;
};

/** Texts that must, and must not, occur. */
export type ExpectedText = { readonly contains?: string | readonly string[]; readonly notContains?: string | readonly string[] };

/** The newest result of one call. */
export type ExpectedResult = ExpectedText & { readonly call: string; readonly outcome?: string; readonly type?: string };

export type ScriptedCall = { readonly tool: string; readonly input?: unknown; readonly id?: string; readonly raw?: string };

export type ScriptedTurn = {
  readonly say?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly error?: { readonly status: number; readonly message: string };
  readonly delayMs?: number;
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number; readonly cachedInputTokens?: number };
  readonly truncated?: boolean;
  readonly expect?: Expectation;
};

/** How far a provider can be forced to call a tool. */
export type Capability = "named" | "required" | "auto";

export type AgentScript = { readonly turns: readonly ScriptedTurn[]; readonly allowUnused?: boolean };

/** A scripted conversation, used as a model in tests and demonstrations. */
export type Script = AgentScript & { readonly agents?: Readonly<Record<string, AgentScript>>; readonly capability?: Capability };

/** Why a script ended the run. */
export class ScriptFailure extends Error {
  readonly type: "expectation_failed" | "script_exhausted" | "script_unused";
  constructor(type: ScriptFailure["type"], message: string) {
    super(message);
    this.name = "ScriptFailure";
    this.type = type;
  }
}

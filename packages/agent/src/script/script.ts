/** What a turn of a script checks before it answers. Absent keys check nothing. */
export type Expectation = {
  /** A tool's name, `required`, `none`, or null: nothing is forced. */
  readonly toolChoice?: string | null;
  readonly result?: ExpectedResult;
  readonly results?: readonly ExpectedResult[];
  readonly reminders?: readonly ExpectedText[];
  readonly notices?: readonly ExpectedText[];
  readonly tools?: { readonly has?: readonly string[]; readonly hasNot?: readonly string[] };
  readonly model?: string;
};

/** Plain texts that are, and are not, found. */
export type ExpectedText = { readonly contains?: string | readonly string[]; readonly notContains?: string | readonly string[] };

/** The newest result of one call. */
export type ExpectedResult = ExpectedText & { readonly call: string; readonly outcome?: string; readonly type?: string };

/** One call a script makes. */
export type ScriptedCall = { readonly tool: string; readonly input?: unknown; readonly id?: string; readonly raw?: string };

/** One answer of a script. */
export type ScriptedTurn = {
  readonly say?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly error?: { readonly status: number; readonly message: string };
  readonly delayMs?: number;
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number; readonly cachedInputTokens?: number };
  readonly truncated?: boolean;
  readonly expect?: Expectation;
};

/** What a provider can be made to do about the choice of a tool. */
export type Capability = "named" | "required" | "auto";

/** The turns of one agent. */
export type AgentScript = { readonly turns: readonly ScriptedTurn[]; readonly allowUnused?: boolean };

/** A conversation written down beforehand: a model for rehearsals, tests and demonstrations. */
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

import type { JsonObject } from "@assent/core";

/** A call that an agent is about to run, in the agent's own words. */
export type ForeignCall = {
  /** The agent's session. */
  readonly session: string;
  readonly cwd: string;
  readonly tool: string;
  readonly input: JsonObject;
  /** The agent's id of the call, if it has one. */
  readonly callId?: string;
  /** The agent's own permission mode. */
  readonly mode?: string;
  /** The agent's subagent that makes the call. */
  readonly subagent?: string;
  /** The file where the agent keeps the transcript of its session. */
  readonly transcript?: string;
};

/** How a call ended, as the agent reports it. `not_applied`: the agent did not run it. */
export type CallOutcome = "applied" | "failed" | "not_applied";

/** An event for which an agent runs its hook. */
export type GuardEvent =
  /** Before a call: the answer decides whether it runs. */
  | { readonly kind: "decide"; readonly call: ForeignCall }
  /** The agent shows its own dialog; the first answer wins. */
  | { readonly kind: "dialog"; readonly call: ForeignCall }
  | { readonly kind: "report"; readonly call: ForeignCall; readonly outcome: CallOutcome; readonly text: string }
  /** The agent waits for its person. Every call of the turn has ended. */
  | { readonly kind: "turn-end"; readonly session: string; readonly cwd: string }
  | { readonly kind: "session-end"; readonly session: string; readonly cwd: string };

/** The answer to the agent about a call. `none`: no opinion. `dialog`: the agent's own dialog decides. */
export type GuardVerdict = { readonly verdict: "allow" | "none" | "dialog" } | { readonly verdict: "deny"; readonly reason: string };

/** What a hook process prints, and its exit code. Every agent blocks a call on exit code 2. */
export type HookOutput = { readonly stdout: string; readonly stderr: string; readonly exit: 0 | 2 };

/** The hook input of the agent is invalid. */
export class GuardInputError extends Error {
  readonly type = "hook_input_invalid";
  /** True if the event could be one before a call, so the call must be denied. */
  readonly decides: boolean;
  constructor(message: string, { decides = true }: { readonly decides?: boolean } = {}) {
    super(message);
    this.name = "GuardInputError";
    this.decides = decides;
  }
}

import type { Display, JsonObject, OutcomeState } from "@assent/core";
import type { Role } from "../draw/theme.ts";
import type { TaskResult } from "./task-ends.ts";

/** A call of a tool, from its proposal to its end. */
export type CallBlock = {
  readonly type: "call";
  readonly callId: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly state: "proposed" | "waiting" | "running" | "ended";
  /** When its effect began, in milliseconds. */
  readonly since?: number;
  /** Of a call that asks: the question's id. */
  readonly question?: string;
  /** Who let it pass, or did not, in words. */
  readonly decided?: string;
  /** What people see of it while it runs. */
  readonly live?: Display;
  /** What people see of its result. */
  readonly display?: Display;
  /** What the model was told. */
  readonly text?: string;
  readonly outcome?: OutcomeState;
  readonly errorType?: string | null;
  readonly details?: JsonObject;
  readonly durationMs?: number;
  /** A person made it, not the model. */
  readonly byPerson?: true;
  /** Its change is staged: nothing is changed before it is applied. */
  readonly staged?: true;
};

/** One thing that was said or done, as people read it. */
export type Block =
  | { readonly type: "user"; readonly text: string }
  /** A piece of an answer: markdown that nothing coming later changes. */
  | { readonly type: "answer"; readonly text: string; readonly first: boolean }
  /** Lines of a code block. */
  | { readonly type: "code"; readonly language: string; readonly lines: readonly string[]; readonly first: boolean }
  | { readonly type: "thought"; readonly text: string }
  /** `brought`: what the background tasks came back with whose end it tells. */
  | { readonly type: "notice"; readonly text: string; readonly results?: readonly TaskResult[] }
  | { readonly type: "note"; readonly text: string; readonly role: Role }
  /** The output of a command of this program. */
  | { readonly type: "page"; readonly title: string; readonly text: string }
  | CallBlock;

/** True for a block that nothing changes any more. */
export function isSettled(block: Block): boolean {
  return block.type !== "call" || block.state === "ended";
}

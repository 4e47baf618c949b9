import type { Display, JsonObject, OutcomeState } from "@assent/core";
import type { Role } from "../draw/theme.ts";
import type { TaskResult } from "./task-ends.ts";

export type CallBlock = {
  readonly type: "call";
  readonly callId: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly state: "proposed" | "waiting" | "running" | "ended";
  /** When it started, in milliseconds. */
  readonly since?: number;
  /** The question's id, for `ask`. */
  readonly question?: string;
  /** Who decided, in words. */
  readonly decided?: string;
  /** Output while it runs. */
  readonly live?: Display;
  /** The result for people. */
  readonly display?: Display;
  /** The result for the model. */
  readonly text?: string;
  readonly outcome?: OutcomeState;
  readonly errorType?: string | null;
  readonly details?: JsonObject;
  readonly durationMs?: number;
  /** Made by the person, not the model. */
  readonly byPerson?: true;
  /** Its change is staged, not applied. */
  readonly staged?: true;
};

export type Block =
  | { readonly type: "user"; readonly text: string }
  /** A finished piece of an answer, as markdown. */
  | { readonly type: "answer"; readonly text: string; readonly first: boolean }
  | { readonly type: "code"; readonly language: string; readonly lines: readonly string[]; readonly first: boolean }
  | { readonly type: "thought"; readonly text: string }
  /** `results`: of the background tasks it reports. */
  | { readonly type: "notice"; readonly text: string; readonly results?: readonly TaskResult[] }
  | { readonly type: "note"; readonly text: string; readonly role: Role }
  /** The output of an `assent` command. */
  | { readonly type: "page"; readonly title: string; readonly text: string }
  | CallBlock;

export function isSettled(block: Block): boolean {
  return block.type !== "call" || block.state === "ended";
}

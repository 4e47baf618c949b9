import type { JsonObject } from "@assent/core";

/** A call that the fake model proposes. */
export type PlannedToolCall = {
  readonly name: string;
  readonly input: JsonObject;
  /** The group of tools, in the words of the responses API. Codex calls the tools of MCP servers so. */
  readonly namespace?: string;
};

/** What the model does in one turn: proposes calls, all at once, or fails with an HTTP status. */
export type PlannedTurn = { readonly calls: readonly PlannedToolCall[] } | { readonly status: number };

/** The turns of a subagent, which is known by words of its prompt. */
export type PlannedSubagent = { readonly prompt: string; readonly turns: readonly PlannedTurn[] };

/** What one request gets: calls with their ids, a last text, or an error. */
export type ModelTurn =
  | { readonly calls: readonly (PlannedToolCall & { readonly id: string })[] }
  | { readonly text: string }
  | { readonly status: number };

/** Chooses the turn by the number of results in the request, so that a repeated request gets the same answer. */
export function chooseTurn(turns: readonly PlannedTurn[], results: number): ModelTurn {
  let before = 0;
  for (const [at, turn] of turns.entries()) {
    if ("status" in turn) {
      if (before >= results) return turn;
      continue;
    }
    if (results < before + turn.calls.length) return { calls: turn.calls.map((call, index) => ({ ...call, id: `call_${at}_${index}` })) };
    before += turn.calls.length;
  }
  return { text: "finished" };
}

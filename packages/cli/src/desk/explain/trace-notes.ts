import type { GrantRow, Rules, TraceEntry } from "@assent/core";
import { type Assessment, coveringGrants, type HookEntry, type HookSubject, sharedToolName } from "@assent/core/parts";

export type RememberedAnswers =
  | {
      readonly rows: readonly GrantRow[];
      /** Also counts this session's answers. */
      readonly session?: string;
      readonly workspace: string;
      readonly rules: Rules;
      readonly now: number;
    }
  | { readonly failed: string };

/** Remembered answers do not count in an explanation; this says what they would do. */
export function grantsEntry(assessed: Assessment, known: RememberedAnswers): TraceEntry {
  const { verdict, explicitAsk } = assessed.decision;
  if (verdict !== "ask") return { layer: "grants", opinion: "not_reached" };
  if (explicitAsk) return { layer: "grants", opinion: "not_reached", note: "none applies where approval is required" };
  if ("failed" in known) return { layer: "grants", opinion: "error", note: known.failed };
  const { rows, session, workspace, rules, now } = known;
  const covering = coveringGrants(rows, { assessed, rules, reach: { session, workspace, now } });
  if (!covering) return { layer: "grants", opinion: "none", note: "no remembered answer covers it" };
  return {
    layer: "grants",
    opinion: "allow",
    note: `would be answered by ${covering.map(({ id, scope, rule }) => `${id} (${scope}: ${rule})`).join(", ")}`,
  };
}

/** Names the hooks of a real call; an explanation starts no process. */
export async function withHooks(
  trace: readonly TraceEntry[],
  request: HookSubject,
  hooks: readonly HookEntry[],
): Promise<readonly TraceEntry[]> {
  const names = [request.tool, sharedToolName(request.tool)];
  const matching = hooks.filter(({ event, matches }) => event === "pre_tool_use" && (!matches || names.some(matches)));
  const concerned = await Promise.all(matching.map((hook) => isConcerned(hook, request)));
  const consulted = matching.filter((_, at) => concerned[at]);
  if (consulted.length === 0) return trace;
  const note = `not run here, and may still deny or ask: ${consulted.map(({ name }) => name).join(", ")}`;
  return trace.map((entry) => (entry.layer === "hook" ? { layer: "hook", opinion: "not_reached", note } : entry));
}

/** As in a run, a failing `if` counts as a match. */
async function isConcerned({ test }: HookEntry, { tool, kind, input, cwd }: HookSubject): Promise<boolean> {
  try {
    return !test || (await test({ tool, kind, input, cwd }));
  } catch {
    return true;
  }
}

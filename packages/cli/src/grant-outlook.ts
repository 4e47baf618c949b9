import { type Assessed, decide, type GrantRow, type GrantRule, type Rules, type TraceEntry, type Unit } from "@assent/core";

/** A remembered answer whose rule was read. */
type Read = { readonly row: GrantRow; readonly rule: GrantRule };

/** The remembered answers that hold in a workspace whatever the session; or why they could not be read. */
export type Remembered = { readonly grants: readonly Read[] } | { readonly failed: string };

/** Reads the grants of a list that reach a workspace without belonging to a session. */
export function remembered(rows: readonly GrantRow[], workspace: string, rules: Rules): Remembered {
  const reaching = rows.filter(
    ({ state, scope, workspace: granted }) => state === "active" && (scope === "user" || (scope === "project" && granted === workspace)),
  );
  return { grants: reaching.flatMap((row) => readRule(row, rules)) };
}

/** The whole-session `*` belongs to a session, and a rule of another version's notation covers nothing. */
function readRule(row: GrantRow, rules: Rules): readonly Read[] {
  if (row.rule === "*") return [];
  try {
    return [{ row, rule: rules.parse(row.rule) }];
  } catch {
    return [];
  }
}

/** What remembered answers would do to a judged call, as an entry of its trace. In an explanation they do not count. */
export function grantsEntry({ request, decision, circumstances }: Assessed, known: Remembered): TraceEntry {
  if (decision.verdict !== "ask") return { layer: "grants", opinion: "not_reached" };
  if (decision.explicitAsk) return { layer: "grants", opinion: "not_reached", note: "none counts where somebody insists on asking" };
  if ("failed" in known) return { layer: "grants", opinion: "error", note: known.failed };
  const asking = request.units.filter((unit) => decide({ ...request, units: [unit] }, circumstances).verdict !== "allow");
  const covering = asking.map((unit) => known.grants.find(({ rule }) => covers(rule, request, unit)));
  if (covering.includes(undefined)) return { layer: "grants", opinion: "none", note: "no remembered answer covers it" };
  const named = new Set(covering.flatMap((read) => (read ? [`${read.row.id} (${read.row.scope}: ${read.row.rule})`] : [])));
  return { layer: "grants", opinion: "allow", note: `would be answered by ${[...named].join(", ")}` };
}

function covers(rule: GrantRule, request: Assessed["request"], unit: Unit): boolean {
  try {
    return rule.covers(request, unit);
  } catch {
    return false;
  }
}

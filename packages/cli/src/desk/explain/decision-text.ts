import type { RuleRef, TraceEntry, Verdict } from "@assent/core";

export type ExplainedDecision = {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly source: string;
  readonly rule: RuleRef | null;
  readonly units: number;
  readonly trace: readonly TraceEntry[];
};

export function decisionSentence(decision: ExplainedDecision): string {
  switch (decision.verdict) {
    case "deny":
      return denied(decision);
    case "ask":
      return asked(decision);
    case "allow":
      return allowed(decision);
    default:
      return decision.verdict satisfies never;
  }
}

function denied({ reason, source, rule, trace }: ExplainedDecision): string {
  switch (reason) {
    case "guard":
      return `A safeguard forbids it${noteOf(trace, `safeguard:${source}`)}.`;
    case "checker":
      return rule
        ? `A deny rule from the ${source} matches. A deny holds in every mode.`
        : `The ${source} failed to judge it, so it is denied${noteOf(trace, source)}.`;
    case "hook":
      return `The hook '${source}' denies it.`;
    case "mode":
      return `Mode '${source}' blocks everything that may change something, even if a rule allows it.`;
    default:
      return `The tool itself refuses this input${noteOf(trace, "tool")}.`;
  }
}

function asked({ reason, source, trace }: ExplainedDecision): string {
  switch (reason) {
    case "guard":
      return `A safeguard requires approval${noteOf(trace, `safeguard:${source}`)}.`;
    case "checker":
      return `An ask rule from the ${source} matches. It requires approval in every mode.`;
    case "hook":
      return `The hook '${source}' requires approval.`;
    case "tool":
      return `No rule allows it, and the tool itself asks for approval${noteOf(trace, "tool")}.`;
    default:
      return "No rule allows it, so it needs approval.";
  }
}

function allowed({ reason, source, units }: ExplainedDecision): string {
  switch (reason) {
    case "checker":
      return units > 1 ? `Each of its ${units} parts is allowed; the first by the ${source}.` : `An allow rule from the ${source} matches.`;
    case "mode":
      return source === "auto-edit"
        ? "Mode 'auto-edit' allows edits inside the workspace."
        : `Mode '${source}' allows writing its own plan file.`;
    case "yolo":
      return "Mode 'yolo' allows everything that is not denied and does not require approval.";
    case "readonly_hint":
      return "It only reads, and your settings allow such calls.";
    case "confined":
      return "It runs confined and without network, and your settings allow that (allowConfined).";
    case "hook":
      return `The hook '${source}' allows it.`;
    default:
      return "The tool itself allows this input.";
  }
}

function noteOf(trace: readonly TraceEntry[], layer: string): string {
  const note = trace.find((entry) => entry.layer === layer)?.note;
  return note === undefined || note === "" ? "" : `: ${note}`;
}

/** `file:line:column`, or the source of a flag. */
export function rulePlace({ file, line, column, source }: RuleRef): string {
  if (file === undefined) return source ?? "";
  return line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}

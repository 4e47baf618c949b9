import type { RuleRef, TraceEntry, Verdict } from "@assent/core";

/** A decision, as far as it can be told in a sentence. */
export type ExplainedDecision = {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly source: string;
  readonly rule: RuleRef | null;
  readonly units: number;
  readonly trace: readonly TraceEntry[];
};

/** Why a call would be allowed, asked about or denied, in words that need no manual. */
export function decisionSentence(told: ExplainedDecision): string {
  switch (told.verdict) {
    case "deny":
      return denied(told);
    case "ask":
      return asked(told);
    case "allow":
      return allowed(told);
    default:
      return told.verdict satisfies never;
  }
}

function denied({ reason, source, rule, trace }: ExplainedDecision): string {
  switch (reason) {
    case "guard":
      return `The guard '${source}' forbids it, in every mode${noteOf(trace, `guard:${source}`)}.`;
    case "checker":
      return rule
        ? `A deny rule of the ${source} covers it. A deny holds in every mode.`
        : `The ${source} could not judge it, so it is denied${noteOf(trace, source)}.`;
    case "hook":
      return `The hook '${source}' denies it.`;
    case "mode":
      return `Mode '${source}' lets nothing pass that may change something, whatever the allow rules say.`;
    default:
      return `The tool itself refuses this input${noteOf(trace, "tool")}.`;
  }
}

function asked({ reason, source, trace }: ExplainedDecision): string {
  switch (reason) {
    case "guard":
      return `The guard '${source}' insists on a person, in every mode${noteOf(trace, `guard:${source}`)}.`;
    case "checker":
      return `An ask rule of the ${source} covers it. It insists on a person, in every mode.`;
    case "hook":
      return `The hook '${source}' insists on a person.`;
    case "tool":
      return `No rule allows it and the tool itself asks for a person's yes${noteOf(trace, "tool")}.`;
    default:
      return "No rule allows it, so a person is asked.";
  }
}

function allowed({ reason, source, units }: ExplainedDecision): string {
  switch (reason) {
    case "checker":
      return units > 1 ? `Each of its ${units} parts is allowed; the first by the ${source}.` : `An allow rule of the ${source} covers it.`;
    case "mode":
      return source === "auto-edit"
        ? "Mode 'auto-edit' lets edits inside the workspace pass."
        : `Mode '${source}' lets its own plan file be written.`;
    case "yolo":
      return "Mode 'yolo' lets everything pass that nobody denies or insists on asking about.";
    case "readonly_hint":
      return "It is known to change nothing, and the settings let such calls pass.";
    case "hook":
      return `The hook '${source}' allows it.`;
    default:
      return "The tool itself lets this input pass.";
  }
}

function noteOf(trace: readonly TraceEntry[], layer: string): string {
  const note = trace.find((entry) => entry.layer === layer)?.note;
  return note === undefined || note === "" ? "" : `: ${note}`;
}

/** Where a rule stands, as editors read it; a flag has no place. */
export function rulePlace({ file, line, column, source }: RuleRef): string {
  if (file === undefined) return source ?? "";
  return line === undefined ? file : `${file}:${line}:${column ?? 1}`;
}

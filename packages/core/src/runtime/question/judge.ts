import type { Decision } from "../../model/decision.ts";
import { type AssessmentInput, assessRequest } from "../pipeline/assess.ts";
import type { Assessment } from "../pipeline/judged-call.ts";

/** Judges a call of `ask`. An ask becomes an allow, because the question itself asks the person; a deny stays. */
export async function assessQuestion(input: AssessmentInput): Promise<Assessment> {
  const assessment = await assessRequest({ ...input, fingerprint: true });
  return { ...assessment, decision: withoutAsk(assessment.decision), safe: false }; // show one question at a time
}

function withoutAsk(decision: Decision): Decision {
  if (decision.verdict !== "ask") return decision;
  const { rule: _rule, note: _note, ...rest } = decision;
  return { ...rest, verdict: "allow", reason: "tool", source: "", explicitAsk: false, byRules: false };
}

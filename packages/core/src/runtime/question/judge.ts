import { andThen } from "../../and-then.ts";
import type { Decision } from "../../model/decision.ts";
import type { Maybe } from "../../tool-definition.ts";
import { type Assessed, type Assessing, assessRequest } from "../pipeline/assess.ts";

/** Judges a call of `ask`. Only a person answers it, so an ask is met by the question itself and nobody is asked twice; a deny is a deny. */
export function assessQuestion(assessing: Assessing): Maybe<Assessed> {
  const assessed = assessRequest({ ...assessing, fingerprint: true });
  return andThen(assessed, asQuestion);
}

/** One question at a time is before a person, whatever kind the tool says it is. */
function asQuestion(assessed: Assessed): Assessed {
  return { ...assessed, decision: withoutAsk(assessed.decision), safe: false };
}

function withoutAsk(decision: Decision): Decision {
  if (decision.verdict !== "ask") return decision;
  const { rule: _rule, note: _note, ...rest } = decision;
  return { ...rest, verdict: "allow", reason: "tool", source: "", explicitAsk: false, byRules: false };
}

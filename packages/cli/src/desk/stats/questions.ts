import { isObject, type Ledger, type StoredEvent } from "@assent/core";

export type AskedQuestion = {
  readonly approval: string;
  readonly session: string;
  readonly call: string;
  readonly tool: string;
  /** Equal for equal calls. */
  readonly fingerprint: string;
  readonly asker: string;
  readonly askedAt: number;
  readonly offers: readonly string[];
  readonly outcome: "approved" | "rejected" | "expired" | "cancelled" | "denied" | "open";
  readonly answeredAt?: number;
};

const TYPES = ["approval.opened", "approval.answered", "approval.closed"];

/** Reads all questions since a time, by the index of event types: no session is read. Memory grows with the questions, not with the record. */
export async function readQuestions(ledger: Ledger, since: number): Promise<readonly AskedQuestion[]> {
  const found = new Map<string, AskedQuestion>();
  const share = shareTexts();
  for await (const event of ledger.read({ pos: 0 }, { types: TYPES })) {
    const id = String(event.body["approval"]);
    const known = found.get(id);
    if (event.type === "approval.opened") found.set(id, share(openQuestion(event, known)));
    else if (known) found.set(id, closeQuestion(event, known));
  }
  return [...found.values()].filter(({ askedAt }) => askedAt >= since);
}

/** Equal tools, rules and offers of many questions are kept once. */
function shareTexts(): (question: AskedQuestion) => AskedQuestion {
  const texts = new Map<string, string>();
  const offered = new Map<string, readonly string[]>();
  const same = <T>(known: Map<string, T>, key: string, value: T): T => {
    const before = known.get(key) ?? value;
    known.set(key, before);
    return before;
  };
  const text = (value: string): string => same(texts, value, value);
  return (question) => ({
    ...question,
    tool: text(question.tool),
    session: text(question.session),
    fingerprint: text(question.fingerprint),
    asker: text(question.asker),
    offers: same(offered, question.offers.join("\n"), question.offers),
  });
}

/** A changed request asks again under the same id; the person has waited since the first time. */
function openQuestion({ session, at, body }: StoredEvent, before: AskedQuestion | undefined): AskedQuestion {
  const { approval, call, tool, fingerprint, explicitAsk, suggestions, details } = body;
  const wider = isObject(details) && isObject(details["wider"]) ? details["wider"]["rules"] : [];
  const offers =
    explicitAsk === true ? [] : [suggestions, wider].flatMap((rules) => (Array.isArray(rules) && rules.length === 1 ? rules : []));
  return {
    approval: String(approval),
    session,
    call: String(call),
    tool: String(tool),
    fingerprint: String(fingerprint),
    asker: describeAsker(body),
    askedAt: before?.askedAt ?? Date.parse(at),
    offers: offers.filter((rule) => typeof rule === "string"),
    outcome: "open",
  };
}

function closeQuestion({ at, body }: StoredEvent, { answeredAt: _before, ...question }: AskedQuestion): AskedQuestion {
  const outcome = body["outcome"] as AskedQuestion["outcome"]; // the store returns what its schema wrote
  return outcome === "approved" || outcome === "rejected" ? { ...question, outcome, answeredAt: Date.parse(at) } : { ...question, outcome };
}

function describeAsker({ reason, source, rule }: StoredEvent["body"]): string {
  if (reason === "checker" && isObject(rule)) return `${String(rule["text"])}, ${String(source)}`;
  if (reason === "guard") return `safeguard ${String(source)}`;
  if (reason === "hook") return `hook ${String(source)}`;
  return "no rule";
}

export type QuestionCount = {
  readonly name: string;
  readonly asked: number;
  readonly approved: number;
  readonly rejected: number;
  readonly open: number;
  /** Expired, cancelled, or denied by a rule that was added later. */
  readonly unanswered: number;
  readonly medianMs: number | null;
  readonly p90Ms: number | null;
};

export function countQuestions(name: string, questions: readonly AskedQuestion[]): QuestionCount {
  const having = (outcome: AskedQuestion["outcome"]): number => questions.filter((one) => one.outcome === outcome).length;
  const took = questions.flatMap(({ askedAt, answeredAt }) => (answeredAt === undefined ? [] : [Math.max(0, answeredAt - askedAt)]));
  const [approved, rejected, open] = [having("approved"), having("rejected"), having("open")];
  const sorted = took.toSorted((a, b) => a - b);
  return {
    name,
    asked: questions.length,
    approved,
    rejected,
    open,
    unanswered: questions.length - approved - rejected - open,
    medianMs: percentile(sorted, 0.5),
    p90Ms: percentile(sorted, 0.9),
  };
}

/** The smallest value that is at least as large as this share of all values. */
function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

export function countBy(questions: readonly AskedQuestion[], nameOf: (question: AskedQuestion) => string): readonly QuestionCount[] {
  const groups = Map.groupBy(questions, nameOf);
  return [...groups].map(([name, some]) => countQuestions(name, some)).toSorted((a, b) => b.asked - a.asked);
}

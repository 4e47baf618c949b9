import { AnswerError } from "../../errors.ts";
import type { ApprovalRow, Ledger, SharedDraft } from "../../ledger-port.ts";
import type { Answer, By, Remember } from "../../model/answer.ts";
import { isAcceptedPlace } from "../../model/answer-place.ts";
import type { EventBodies } from "../../model/events.ts";
import { canonicalJson } from "../../model/json/canonical.ts";
import { isObject, type Json } from "../../model/json/json.ts";
import { parseEvent } from "../../model/known-event.ts";
import { nextApprovalRow } from "../../model/ledger-rules.ts";
import { type ProposalPart, readPart } from "../../model/proposal/part.ts";
import type { Request, Unit } from "../../model/request.ts";
import { messageOf } from "../../model/result/thrown.ts";
import { cutText } from "../../model/text/cut-text.ts";
import type { Clock, GrantRule, Ids, Rules } from "../../ports.ts";
import { readWorkspace } from "../session/call-record.ts";
import { readRow } from "../session/list-rows.ts";

/** The recorded answer, and whether this call gave it. */
export type AnswerReport = {
  readonly id: string;
  readonly outcome: ApprovalRow["state"];
  readonly alreadyAnswered: boolean;
  /** The recorded answer says the same. */
  readonly identical: boolean;
  /** The parts of this answer that were not saved. */
  readonly dropped: readonly ("edit" | "remember" | "choice")[];
  readonly answeredBy: By | null;
  readonly answeredAt: string | null;
  readonly fingerprint: string;
};

/** Loads the request behind an approval and builds the edited one. */
export type RequestReader = {
  readonly load: (row: ApprovalRow) => Promise<Request>;
  readonly edit: (row: ApprovalRow, answer: Answer) => Promise<Request & { readonly fingerprint: string }>;
  /** Says why this part of the shown preview cannot be written; undefined if it can. */
  readonly partProblem: (row: ApprovalRow, part: ProposalPart) => Promise<string | undefined>;
};

/** The ports for answering an approval, from any process. */
export type AnswerPorts = {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly rules: Rules;
  readonly requests: RequestReader;
};

/** Commits one answer with its grants; an earlier answer wins. */
export async function answerApproval(ports: AnswerPorts, answer: Answer): Promise<AnswerReport> {
  const given = checkAnswer(answer);
  const row = await findApproval(ports.ledger, given.approval);
  const checked = await withinAgent(ports.ledger, row, given);
  if (row.state !== "open") return report(row, checked, await compareAnswer(ports, row, checked));
  refuseStale(row, checked);
  refuseMode(row, checked);
  refuseWrite(row, checked);
  await refusePart(ports.requests, row, checked);
  refusePlace(row, checked);
  if (isPast(row.expiresAt, ports.clock) || wasClockSetBack(row, ports.clock.now())) return expire(ports, row, checked);
  const edited = changesInput(checked) ? await ports.requests.edit(row, checked) : undefined;
  const request = edited ?? (checked.remember && !row.explicitAsk ? await ports.requests.load(row) : undefined);
  const remembered = rememberedRules(ports.rules, { row, answer: checked, request });
  const at = new Date(ports.clock.now()).toISOString();
  const answered = answeredBody({ row, answer: checked, edited, remembered });
  const grants = await grantBodies(ports, { row, answer: checked, remembered, tool: request?.tool ?? row.tool });
  const events: SharedDraft[] = [
    { type: "approval.answered", v: 1, at, body: answered },
    ...grants.map((body): SharedDraft => ({ type: "grant.created", v: 1, at, body })),
  ];
  const outcome = await ports.ledger.answer(events);
  const [won] = "won" in outcome ? outcome.won : []; // not read again: the row may already ask about a new revision
  const now = won ? nextApprovalRow(row, won) : await findApproval(ports.ledger, row.id);
  if (!won && now.state === "open") return await expire(ports, row, checked);
  const sameChoice = won !== undefined || (await isSameChoice(ports.ledger, now, checked));
  return { ...report(now, checked, { fingerprint: edited?.fingerprint, sameChoice }), alreadyAnswered: !won };
}

/** How an answer compares with the recorded one; `fingerprint` is that of its edited request. */
type ComparedAnswer = { readonly fingerprint: string | undefined; readonly sameChoice: boolean };

async function compareAnswer(ports: AnswerPorts, row: ApprovalRow, answer: Answer): Promise<ComparedAnswer> {
  return { fingerprint: await editedFingerprint(ports, row, answer), sameChoice: await isSameChoice(ports.ledger, row, answer) };
}

/** True if the recorded answer runs the call, or writes the same part of the same preview, as this one does. */
async function isSameChoice(ledger: Ledger, { id, session, call, revision }: ApprovalRow, answer: Answer): Promise<boolean> {
  const choice = ({ write, part }: Pick<Answer, "write" | "part">): string =>
    canonicalJson([write ?? null, part ?? null] as unknown as Json);
  for await (const stored of ledger.read({ pos: 0 }, { naming: session, call, types: ["approval.answered"] })) {
    const event = parseEvent(stored);
    if (event?.type !== "approval.answered" || event.body.approval !== id || event.body.revision !== revision) continue;
    return choice((await ledger.resolve(event.body as unknown as Json)) as unknown as Pick<Answer, "write" | "part">) === choice(answer);
  }
  return true;
}

async function editedFingerprint({ requests }: AnswerPorts, row: ApprovalRow, answer: Answer): Promise<string | undefined> {
  if (!changesInput(answer)) return undefined;
  try {
    return (await requests.edit(row, answer)).fingerprint;
  } catch (error) {
    if (error instanceof AnswerError) return undefined;
    throw error;
  }
}

async function findApproval(ledger: Ledger, id: string): Promise<ApprovalRow> {
  const row = await readRow(ledger, "approvals", id);
  if (!row) throw new AnswerError("unknown_approval", `There is no approval '${id}'.`);
  return row;
}

const REASON_LIMIT = 2_000;

function checkAnswer(answer: Answer): Answer {
  const problem = problemOf(answer);
  if (problem !== undefined) throw new AnswerError("bad_answer", problem);
  const remember = checkRemember(answer.remember);
  const reason = answer.reason === undefined ? "" : cutText(answer.reason.trim().toWellFormed(), REASON_LIMIT);
  const { reason: _given, remember: _asked, ...rest } = answer;
  return { ...rest, ...(reason !== "" && { reason }), ...(remember && { remember }) };
}

function problemOf({ approval, outcome, newContent, updatedInput, by, reason }: Answer): string | undefined {
  if (typeof approval !== "string" || approval === "") return "The answer names no approval.";
  if (outcome !== "approve" && outcome !== "reject")
    return `The outcome must be 'approve' or 'reject', not ${JSON.stringify(outcome)?.slice(0, 80)}.`;
  if (newContent !== undefined && updatedInput !== undefined) return "Give either a new input or new content, not both.";
  if (!isPerson(by)) return "The answer names no person.";
  return reason === undefined || typeof reason === "string" ? undefined : "The reason must be a string.";
}

function isPerson(by: unknown): boolean {
  return (
    isObject(by) && (by["kind"] === "person" || by["kind"] === "host") && typeof by["user"] === "string" && typeof by["name"] === "string"
  );
}

const SCOPES: readonly unknown[] = ["session", "project", "user"];

/** Refuses an invalid expiry or count, which would grant forever. */
function checkRemember(remember: Remember | undefined): Remember | undefined {
  if (!remember) return undefined;
  const { scope, expiresAt, uses } = remember;
  if (!SCOPES.includes(scope))
    throw new AnswerError("bad_answer", `An answer is remembered for a session, project or user, not '${scope}'.`);
  if (uses !== undefined && !(Number.isInteger(uses) && uses >= 1))
    throw new AnswerError("bad_answer", "The number of uses must be at least 1.");
  const rules: unknown = remember.rules;
  const named = rules === undefined || (Array.isArray(rules) && rules.length > 0 && rules.every((rule) => typeof rule === "string"));
  if (!named)
    throw new AnswerError("bad_rule", "Rules to remember must be a non-empty list of strings. Omit them to use the offered rules.");
  if (expiresAt === undefined) return remember;
  const time = Date.parse(expiresAt);
  if (Number.isNaN(time)) throw new AnswerError("bad_answer", `'${expiresAt}' is not a valid time.`);
  return { ...remember, expiresAt: new Date(time).toISOString() };
}

function refuseStale(row: ApprovalRow, answer: Answer): void {
  const stale =
    (answer.revision !== undefined && answer.revision !== row.revision) ||
    (answer.fingerprint !== undefined && answer.fingerprint !== row.fingerprint);
  if (stale) throw new AnswerError("stale_revision", `Approval ${row.id} now asks about a different request. Review it and answer again.`);
}

function refuseMode({ details }: ApprovalRow, { mode }: Answer): void {
  if (mode === undefined) return;
  if (details.type !== "plan") throw new AnswerError("bad_answer", "Only the approval of a plan takes a mode.");
  const modes = ["default", "auto-edit", ...(details.prePlanMode === undefined ? [] : [details.prePlanMode])];
  if (!modes.includes(mode)) throw new AnswerError("bad_answer", `A plan is approved into ${modes.join(", ")}, not '${mode}'.`);
}

/** Only the preview that was shown can be written, and only as it was shown. */
function refuseWrite({ id, preview }: ApprovalRow, answer: Answer): void {
  const { outcome, write, updatedInput, newContent, remember } = answer;
  if (write === undefined) return;
  if (outcome !== "approve" || updatedInput !== undefined || newContent !== undefined || remember !== undefined)
    throw new AnswerError("bad_answer", "Writing previewed changes cannot be combined with an edit or a rule.");
  if (preview?.id !== write)
    throw new AnswerError("stale_revision", `Approval ${id} does not show this preview. Review it: assent approvals show ${id}`);
  if (!preview.writable)
    throw new AnswerError("bad_answer", `The previewed changes cannot be written. To see why: assent approvals show ${id}`);
}

/** A part belongs to the preview that the answer writes, or to the proposal that a call of `resolve` applies. */
async function refusePart(requests: RequestReader, row: ApprovalRow, answer: Answer): Promise<void> {
  const { id, tool, details } = row;
  const { outcome, part, write, updatedInput, newContent, remember } = answer;
  if (part === undefined) return;
  if (write === undefined && (tool !== "resolve" || details.type === "plan"))
    throw new AnswerError("bad_answer", `Approval ${id} does not apply a proposal, so no part of it can be chosen.`);
  if (outcome !== "approve" || updatedInput !== undefined || newContent !== undefined || remember !== undefined)
    throw new AnswerError("bad_answer", "A part cannot be combined with an edited input, a rule or a rejection.");
  const problem = readPart(part);
  if (typeof problem === "string") throw new AnswerError("bad_answer", `The part cannot be read: ${problem}.`);
  const unwritable = write === undefined ? undefined : await requests.partProblem(row, part);
  if (unwritable !== undefined) throw new AnswerError("bad_answer", unwritable);
}

/** A rejection counts from anywhere, because it lets nothing run. */
function refusePlace({ id, answersFrom }: ApprovalRow, { outcome, by: { from } }: Answer): void {
  if (outcome !== "approve" || isAcceptedPlace(answersFrom, from)) return;
  const places = answersFrom?.join(", ") || "nowhere";
  throw new AnswerError(
    "answer_not_accepted",
    `Approval ${id} is still open: the setting answersFrom does not accept approvals from ${from ?? "an unnamed place"}. Approve it from: ${places}.`,
  );
}

function changesInput(answer: Answer): boolean {
  return answer.outcome === "approve" && (answer.updatedInput !== undefined || answer.newContent !== undefined);
}

/** True if the deadline passed by the clock or the newest recorded time. */
export function isPast(deadline: string | null, clock: Clock, newest = ""): boolean {
  return deadline !== null && (clock.now() >= Date.parse(deadline) || newest >= deadline);
}

const SKEW_MS = 60_000;

/** A clock set back before the approval opened counts as a passed deadline. */
export function wasClockSetBack({ expiresAt, requestedAt }: Pick<ApprovalRow, "expiresAt" | "requestedAt">, now: number): boolean {
  return expiresAt !== null && now + SKEW_MS < Date.parse(requestedAt);
}

async function expire(ports: AnswerPorts, row: ApprovalRow, answer: Answer): Promise<AnswerReport> {
  const at = new Date(ports.clock.now()).toISOString();
  const { id: approval, session, call, revision } = row;
  await ports.ledger.answer([
    { type: "approval.closed", v: 1, at, body: { approval, session, call, revision, outcome: "expired", by: "deadline" } },
  ]);
  return report(await findApproval(ports.ledger, row.id), answer, { fingerprint: undefined, sameChoice: true });
}

type RememberInput = { readonly row: ApprovalRow; readonly answer: Answer; readonly request: Request | undefined };

/** An explicit ask is never remembered. */
function rememberedRules(rules: Rules, { row, answer, request }: RememberInput): readonly string[] | "narrowed" | undefined {
  if (answer.outcome !== "approve" || !answer.remember) return undefined;
  if (row.explicitAsk) return "narrowed";
  if (!request) return undefined;
  const offered = rules.offer(request);
  const texts = answer.remember.rules ?? offered;
  if (texts.length === 0) throw new AnswerError("bad_rule", "No rule can be offered for this call. Approve it once, or name a rule.");
  const understood = texts.map((text) => understand(rules, { text, scope: answer.remember?.scope }));
  const asking = askingUnits(
    request,
    offered.map((text) => rules.parse(text)),
  );
  const useless = understood.find((rule) => !asking.some((unit) => rule.covers(request, unit)));
  if (useless) throw new AnswerError("bad_rule", `The rule '${useless.text}' does not cover this call.`);
  if (!asking.every((unit) => understood.some((rule) => rule.covers(request, unit))))
    throw new AnswerError(
      "bad_rule",
      `${texts.length === 1 ? `The rule '${texts[0]}' does` : "These rules do"} not cover all of this call.`,
    );
  return texts;
}

/** Offered rules cover exactly the units that nothing allows yet. */
function askingUnits(request: Request, offered: readonly GrantRule[]): readonly Unit[] {
  if (offered.length === 0) return request.units;
  return request.units.filter((unit) => offered.some((rule) => rule.covers(request, unit)));
}

function understand(rules: Rules, { text, scope }: { readonly text: string; readonly scope: string | undefined }): GrantRule {
  if (/^[*?]+$/.test(text.trim())) {
    if (scope === "session" && text.trim() === "*") return { text, covers: () => true };
    throw new AnswerError("bad_rule", "The rule '*' can be remembered for a session only.");
  }
  try {
    return rules.parse(text);
  } catch (error) {
    throw new AnswerError("bad_rule", `'${text}' is not a valid rule: ${messageOf(error)}`, { cause: error });
  }
}

type AnsweredApproval = {
  readonly row: ApprovalRow;
  readonly answer: Answer;
  readonly edited: (Request & { readonly fingerprint: string }) | undefined;
  readonly remembered: readonly string[] | "narrowed" | undefined;
};

function answeredBody({ row, answer, edited, remembered }: AnsweredApproval): EventBodies["approval.answered"] {
  const changed = edited && edited.fingerprint !== row.fingerprint ? { input: edited.input, fingerprint: edited.fingerprint } : undefined;
  return {
    approval: row.id,
    session: row.session,
    call: row.call,
    revision: row.revision,
    outcome: answer.outcome === "approve" ? "approved" : "rejected",
    fingerprint: row.fingerprint,
    ...(changed && { edited: changed }),
    by: answer.by,
    reason: answer.reason ?? null,
    ...(answer.remember && Array.isArray(remembered) && { remember: { scope: answer.remember.scope, rules: remembered } }),
    ...(remembered === "narrowed" && { narrowed: true }),
    ...(answer.interrupt && { interrupt: true }),
    ...(answer.outcome === "approve" && answer.mode !== undefined && { mode: answer.mode }),
    ...(answer.write !== undefined && { write: answer.write }),
    ...(answer.part !== undefined && { part: answer.part }),
  };
}

type GrantInput = Pick<AnsweredApproval, "row" | "answer" | "remembered"> & { readonly tool: string };

async function grantBodies(ports: AnswerPorts, { row, answer, remembered, tool }: GrantInput): Promise<EventBodies["grant.created"][]> {
  const { remember } = answer;
  if (!remember || !Array.isArray(remembered)) return [];
  const { scope, expiresAt, uses } = remember;
  const workspace = scope === "project" ? await readWorkspace(ports.ledger, row.session) : undefined;
  return remembered.map((rule: string) => ({
    grant: ports.ids.next("g_"),
    scope,
    ...(scope === "session" && { session: row.session }),
    ...(workspace !== undefined && { workspace }),
    rule,
    tool,
    madeBy: answer.by.name,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(uses !== undefined && { uses }),
    approval: row.id,
  }));
}

function report(row: ApprovalRow, answer: Answer, { fingerprint, sameChoice }: ComparedAnswer): AnswerReport {
  const covers = row.covers ?? row.fingerprint;
  const wanted = fingerprint ?? (changesInput(answer) ? undefined : row.fingerprint);
  const sameOutcome = row.state === (answer.outcome === "approve" ? "approved" : "rejected");
  const [sameInput, remembered] = [covers === wanted, sameGrant(row, answer)];
  const identical = sameOutcome && (row.state === "rejected" || (sameInput && remembered && sameChoice));
  const isDropped = {
    edit: changesInput(answer) && !sameInput,
    remember: answer.remember !== undefined && !remembered,
    choice: answer.outcome === "approve" && row.state === "approved" && !sameChoice,
  };
  return {
    id: row.id,
    outcome: row.state,
    alreadyAnswered: true,
    identical,
    dropped: (["edit", "remember", "choice"] as const).filter((part) => isDropped[part]),
    answeredBy: row.answeredBy,
    answeredAt: row.answeredAt,
    fingerprint: covers,
  };
}

/** Returns the report, or throws `AnswerError` if a different answer is in force. */
export function refuseLostAnswer(answer: Answer, report: AnswerReport): AnswerReport {
  const { id, outcome, alreadyAnswered, identical, answeredBy } = report;
  if (!alreadyAnswered || identical || (outcome !== "approved" && outcome !== "rejected")) return report;
  const by = answeredBy?.name || answeredBy?.user;
  const isOpposite = outcome !== (answer.outcome === "approve" ? "approved" : "rejected");
  const effect = isOpposite ? "That answer cannot be changed." : droppedText(report) || "It runs as that answer says.";
  throw new AnswerError("already_answered", `Approval ${id} was ${outcome} before${by ? ` by ${by}` : ""}. ${effect}`);
}

const DROPPED = {
  edit: "Your edit was not saved.",
  remember: "Your rule was not saved.",
  choice: "Your choice of what to run or write was not saved.",
} as const;

/** Says which parts of an answer were not saved; empty if none. */
export function droppedText({ dropped }: Pick<AnswerReport, "dropped">): string {
  return dropped.map((part) => DROPPED[part]).join(" ");
}

function sameGrant({ remember }: ApprovalRow, answer: Answer): boolean {
  if (!remember || !answer.remember) return !remember === !answer.remember;
  const rules = answer.remember.rules ?? remember.rules;
  return (
    remember.scope === answer.remember.scope &&
    rules.length === remember.rules.length &&
    rules.every((rule, at) => rule === remember.rules[at])
  );
}

/** Answers to a subagent's call are remembered for its session only. */
async function withinAgent(ledger: Ledger, { session }: Pick<ApprovalRow, "session">, answer: Answer): Promise<Answer> {
  const { remember } = answer;
  if (!remember || remember.scope === "session") return answer;
  for await (const { body } of ledger.read({ session, seq: 0 }, { session, types: ["session.created"] }))
    return (body["parent"] ?? null) === null ? answer : { ...answer, remember: { ...remember, scope: "session" } };
  return answer;
}

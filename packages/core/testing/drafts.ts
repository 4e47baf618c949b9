import type { By } from "../src/model/answer.ts";
import type { Draft, EventBodies, EventType } from "../src/model/events.ts";

/** When drafts of this file happened, unless told otherwise. */
export const DRAFTED_AT = "2026-01-01T00:00:00.000Z";

/** A person at a test's keyboard. */
export const TESTER: By = Object.freeze({ kind: "person", user: "tester", name: "Tester", door: "test", pid: 1 });

/** Any event, dated `at`. */
export function draftOf<T extends EventType>(type: T, body: EventBodies[T], at: string = DRAFTED_AT): Draft<T> {
  // A mapped union does not see that one key gives one member.
  return { type, v: 1, at, body } as Draft<T>;
}

/** The fingerprint that the drafts of a call carry unless told otherwise. */
export function fingerprintOf(call: string): string {
  return `fingerprint-of-${call}`;
}

/** A session's first record. */
export function createdDraft(over: Partial<EventBodies["session.created"]> = {}): Draft<"session.created"> {
  return draftOf("session.created", {
    cwd: "/workspace",
    workspace: "/workspace",
    door: "test",
    mode: "default",
    model: null,
    version: "0.0.0",
    parent: null,
    agent: null,
    policy: "policy-1",
    title: "a test",
    ...over,
  });
}

/** A session's last record. */
export function closedSessionDraft(reason: EventBodies["session.closed"]["reason"] = "done"): Draft<"session.closed"> {
  return draftOf("session.closed", { reason, exit: 0 });
}

/** A call as the model proposed it. */
export function proposedDraft(call: string, over: Partial<EventBodies["call.proposed"]> = {}): Draft<"call.proposed"> {
  return draftOf("call.proposed", { call, turn: 1, index: 0, tool: "note", raw: {}, givenId: call, ...over });
}

/** A judgement; an allow unless told otherwise. */
export function judgedDraft(call: string, over: Partial<EventBodies["call.judged"]> = {}): Draft<"call.judged"> {
  return draftOf("call.judged", {
    call,
    revision: 1,
    fingerprint: fingerprintOf(call),
    tool: "note",
    toolDigest: "digest",
    kind: "edit",
    safe: false,
    input: {},
    cwd: "/workspace",
    binds: {},
    verdict: "allow",
    explicitAsk: false,
    reason: "default",
    source: "default",
    rule: null,
    trace: [],
    units: 1,
    policy: "policy-1",
    ...over,
  });
}

/** The approval `a_CALL`, open for a person. */
export function openedDraft(call: string, over: Partial<EventBodies["approval.opened"]> = {}): Draft<"approval.opened"> {
  return draftOf("approval.opened", {
    approval: `a_${call}`,
    call,
    revision: 1,
    fingerprint: fingerprintOf(call),
    tool: "note",
    title: "Write a note",
    reason: "default",
    source: "default",
    rule: null,
    explicitAsk: false,
    details: { type: "info", prompt: "Write a note?" },
    facts: null,
    suggestions: [],
    expiresAt: null,
    ...over,
  });
}

/** A yes to `a_CALL`, unless told otherwise. */
export function answeredDraft(
  session: string,
  call: string,
  over: Partial<EventBodies["approval.answered"]> = {},
): Draft<"approval.answered"> {
  const body = { approval: `a_${call}`, session, call, revision: 1, fingerprint: fingerprintOf(call), by: TESTER, reason: null };
  return draftOf("approval.answered", { ...body, outcome: "approved", ...over });
}

/** The end of `a_CALL` without an answer; cancelled unless told otherwise. */
export function closedDraft(session: string, call: string, over: Partial<EventBodies["approval.closed"]> = {}): Draft<"approval.closed"> {
  return draftOf("approval.closed", { approval: `a_${call}`, session, call, revision: 1, outcome: "cancelled", by: "test", ...over });
}

/** A grant's or hook's yes to the default ask. */
export function liftedDraft(call: string, by: EventBodies["call.answered"]["by"]): Draft<"call.answered"> {
  return draftOf("call.answered", { call, fingerprint: fingerprintOf(call), by, source: `${by.kind}_test` });
}

/** The intent to run; of an allowed call unless it names an answer. */
export function claimedDraft(call: string, over: Partial<EventBodies["call.claimed"]> = {}): Draft<"call.claimed"> {
  const body = { call, fingerprint: fingerprintOf(call), answer: null, attempt: 1, idempotencyKey: null, plan: null };
  return draftOf("call.claimed", { ...body, durability: "full", ...over });
}

/** A call's end; succeeded unless told otherwise. */
export function endedDraft(call: string, over: Partial<EventBodies["call.ended"]> = {}): Draft<"call.ended"> {
  return draftOf("call.ended", { call, outcome: "succeeded", type: null, content: "done", durationMs: 1, ...over });
}

/** The remembered answer `grant`, of the user unless told otherwise. */
export function grantedDraft(grant: string, over: Partial<EventBodies["grant.created"]> = {}): Draft<"grant.created"> {
  return draftOf("grant.created", { grant, scope: "user", rule: "note", tool: "note", madeBy: "Tester", approval: "a_first", ...over });
}

/** The digest that the drafts of a proposal carry. */
export function proposalDigestOf(proposal: string): string {
  return `digest-of-${proposal}`;
}

/** A proposal without contents, of no call, unless told otherwise. */
export function stagedDraft(proposal: string, over: Partial<EventBodies["proposal.staged"]> = {}): Draft<"proposal.staged"> {
  return draftOf("proposal.staged", {
    proposal,
    callId: null,
    tool: "edit",
    toolDigest: "digest",
    kind: "edit",
    cwd: "/workspace",
    input: { path: "a.txt" },
    label: "Edit: a.txt",
    carrier: "data",
    owner: null,
    digest: proposalDigestOf(proposal),
    files: 1,
    manifest: { blocks: [], effects: [] },
    contents: [],
    ...over,
  });
}

/** The claim of a staged proposal, by the model unless told otherwise. */
export function applyingDraft(proposal: string, over: Partial<EventBodies["proposal.applying"]> = {}): Draft<"proposal.applying"> {
  const resolution = { action: "apply", by: "model", reason: "it is right", at: DRAFTED_AT } as const;
  return draftOf("proposal.applying", { proposal, digest: proposalDigestOf(proposal), resolution, ...over });
}

/** What the tester wants done with a proposal: to apply it, unless told otherwise. */
export function requestedDraft(
  session: string,
  proposal: string,
  over: Partial<EventBodies["proposal.requested"]> = {},
): Draft<"proposal.requested"> {
  const body = { proposal, session, digest: proposalDigestOf(proposal), reason: null, by: TESTER };
  return draftOf("proposal.requested", { ...body, action: "apply", ...over });
}

/** One question with two options, asked by a call. */
export function askedDraft(question: string, callId: string, over: Partial<EventBodies["question.asked"]> = {}): Draft<"question.asked"> {
  const one = { id: "db", question: "Which database?", options: [{ label: "SQLite" }, { label: "Postgres" }], multi: false };
  return draftOf("question.asked", { question, callId, fingerprint: fingerprintOf(callId), questions: [one], ...over });
}

/** The tester's answer to a question: the first option, unless told otherwise. */
export function repliedDraft(
  session: string,
  question: string,
  over: Partial<EventBodies["question.answered"]> = {},
): Draft<"question.answered"> {
  const answers = [{ id: "db", selected: ["SQLite"] }];
  return draftOf("question.answered", { question, session, outcome: "answered", answers, by: TESTER, reason: null, ...over });
}

/** A background agent that begins, of a call `c1` unless told otherwise. */
export function startedTaskDraft(task: string, over: Partial<EventBodies["task.started"]> = {}): Draft<"task.started"> {
  const agent = { agent: "explorer", description: "looks around", prompt: "look", call: "c1", session: `s_${task}` };
  return draftOf("task.started", { task, ...agent, model: null, mode: "default", digest: null, ...over });
}

/** A background agent's end; completed unless told otherwise. */
export function endedTaskDraft(task: string, over: Partial<EventBodies["task.ended"]> = {}): Draft<"task.ended"> {
  const usage = { totalTokens: 0, toolUses: 0, durationMs: 1 };
  const body = { task, result: "done", error: null, partial: false, usage, settled: true, by: null };
  return draftOf("task.ended", { ...body, status: "completed", ...over });
}

import type { By } from "../src/model/answer.ts";
import type { Draft, EventBodies, EventType } from "../src/model/events.ts";

/** The date of all drafts. */
export const DRAFTED_AT = "2026-01-01T00:00:00.000Z";

/** A person at a test's keyboard. */
export const TESTER: By = Object.freeze({ kind: "person", user: "tester", name: "Tester", door: "test", pid: 1 });

/** Creates any event, dated `at`. */
export function draftOf<T extends EventType>(type: T, body: EventBodies[T], at: string = DRAFTED_AT): Draft<T> {
  // a mapped union does not see that one key gives one member
  return { type, v: 1, at, body } as Draft<T>;
}

/** The fingerprint in a call's drafts. */
export function fingerprintOf(call: string): string {
  return `fingerprint-of-${call}`;
}

/** Drafts `session.created`. */
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

/** Drafts `session.closed`. */
export function closedSessionDraft(reason: EventBodies["session.closed"]["reason"] = "done"): Draft<"session.closed"> {
  return draftOf("session.closed", { reason, exit: 0 });
}

/** Drafts `call.proposed`. */
export function proposedDraft(call: string, over: Partial<EventBodies["call.proposed"]> = {}): Draft<"call.proposed"> {
  return draftOf("call.proposed", { call, turn: 1, index: 0, tool: "note", raw: {}, givenId: call, ...over });
}

/** Drafts `call.judged`, an allow. */
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

/** Drafts `approval.opened` for `a_CALL`. */
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

/** Drafts an approval of `a_CALL`. */
export function answeredDraft(
  session: string,
  call: string,
  over: Partial<EventBodies["approval.answered"]> = {},
): Draft<"approval.answered"> {
  const body = { approval: `a_${call}`, session, call, revision: 1, fingerprint: fingerprintOf(call), by: TESTER, reason: null };
  return draftOf("approval.answered", { ...body, outcome: "approved", ...over });
}

/** Drafts that `a_CALL` is cancelled. */
export function closedDraft(session: string, call: string, over: Partial<EventBodies["approval.closed"]> = {}): Draft<"approval.closed"> {
  return draftOf("approval.closed", { approval: `a_${call}`, session, call, revision: 1, outcome: "cancelled", by: "test", ...over });
}

/** Drafts the consent of a grant or hook. */
export function liftedDraft(call: string, by: EventBodies["call.answered"]["by"]): Draft<"call.answered"> {
  return draftOf("call.answered", {
    call,
    fingerprint: fingerprintOf(call),
    by,
    source: by.kind === "grant" ? "grant_session" : "permission_request_hook_allow",
  });
}

/** Drafts the claim of an allowed call. */
export function claimedDraft(call: string, over: Partial<EventBodies["call.claimed"]> = {}): Draft<"call.claimed"> {
  const body = { call, fingerprint: fingerprintOf(call), answer: null, attempt: 1, idempotencyKey: null, plan: null };
  return draftOf("call.claimed", { ...body, durability: "full", ...over });
}

/** Drafts a successful end. */
export function endedDraft(call: string, over: Partial<EventBodies["call.ended"]> = {}): Draft<"call.ended"> {
  return draftOf("call.ended", { call, outcome: "succeeded", type: null, content: "done", durationMs: 1, ...over });
}

/** Drafts a grant for the user. */
export function grantedDraft(grant: string, over: Partial<EventBodies["grant.created"]> = {}): Draft<"grant.created"> {
  return draftOf("grant.created", { grant, scope: "user", rule: "note", tool: "note", madeBy: "Tester", approval: "a_first", ...over });
}

/** The digest in a proposal's drafts. */
export function proposalDigestOf(proposal: string): string {
  return `digest-of-${proposal}`;
}

/** Drafts a staged proposal without contents or call. */
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

/** Drafts that the model applies a proposal. */
export function applyingDraft(proposal: string, over: Partial<EventBodies["proposal.applying"]> = {}): Draft<"proposal.applying"> {
  const resolution = { action: "apply", by: "model", reason: "it is right", at: DRAFTED_AT } as const;
  return draftOf("proposal.applying", { proposal, digest: proposalDigestOf(proposal), resolution, ...over });
}

/** Drafts the tester's request to apply a proposal. */
export function requestedDraft(
  session: string,
  proposal: string,
  over: Partial<EventBodies["proposal.requested"]> = {},
): Draft<"proposal.requested"> {
  const body = { proposal, session, digest: proposalDigestOf(proposal), reason: null, by: TESTER };
  return draftOf("proposal.requested", { ...body, action: "apply", ...over });
}

/** Drafts one question with two options. */
export function askedDraft(question: string, callId: string, over: Partial<EventBodies["question.asked"]> = {}): Draft<"question.asked"> {
  const one = { id: "db", question: "Which database?", options: [{ label: "SQLite" }, { label: "Postgres" }], multi: false };
  return draftOf("question.asked", { question, callId, fingerprint: fingerprintOf(callId), questions: [one], ...over });
}

/** Drafts the tester's answer, the first option. */
export function repliedDraft(
  session: string,
  question: string,
  over: Partial<EventBodies["question.answered"]> = {},
): Draft<"question.answered"> {
  const answers = [{ id: "db", selected: ["SQLite"] }];
  return draftOf("question.answered", { question, session, outcome: "answered", answers, by: TESTER, reason: null, ...over });
}

/** Drafts the start of a background agent by call `c1`. */
export function startedTaskDraft(task: string, over: Partial<EventBodies["task.started"]> = {}): Draft<"task.started"> {
  const agent = { agent: "explorer", description: "looks around", prompt: "look", call: "c1", session: `s_${task}` };
  return draftOf("task.started", { task, ...agent, model: null, mode: "default", digest: null, ...over });
}

/** Drafts the completion of a background agent. */
export function endedTaskDraft(task: string, over: Partial<EventBodies["task.ended"]> = {}): Draft<"task.ended"> {
  const usage = { totalTokens: 0, toolUses: 0, durationMs: 1 };
  const body = { task, result: "done", error: null, partial: false, usage, settled: true, by: null };
  return draftOf("task.ended", { ...body, status: "completed", ...over });
}

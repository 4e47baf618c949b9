import type { By } from "../src/model/answer.ts";
import type { Draft, EventBodies, EventType } from "../src/model/events.ts";

/** The default date of all drafts. */
export const DRAFTED_AT = "2026-01-01T00:00:00.000Z";

/** A person at a test's keyboard. */
export const TESTER: By = Object.freeze({ kind: "person", user: "tester", name: "Tester", door: "test", pid: 1 });

/** Creates any event, dated `at`. */
export function draftOf<T extends EventType>(type: T, body: EventBodies[T], at: string = DRAFTED_AT): Draft<T> {
  // A mapped union does not see that one key gives one member.
  return { type, v: 1, at, body } as Draft<T>;
}

/** The default fingerprint in a call's drafts. */
export function fingerprintOf(call: string): string {
  return `fingerprint-of-${call}`;
}

/** Drafts a session's first record. */
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

/** Drafts a session's last record. */
export function closedSessionDraft(reason: EventBodies["session.closed"]["reason"] = "done"): Draft<"session.closed"> {
  return draftOf("session.closed", { reason, exit: 0 });
}

/** Drafts a model's proposed call. */
export function proposedDraft(call: string, over: Partial<EventBodies["call.proposed"]> = {}): Draft<"call.proposed"> {
  return draftOf("call.proposed", { call, turn: 1, index: 0, tool: "note", raw: {}, givenId: call, ...over });
}

/** Drafts a judgement; an allow by default. */
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

/** Drafts the open approval `a_CALL`. */
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

/** Drafts an answer to `a_CALL`; an approval by default. */
export function answeredDraft(
  session: string,
  call: string,
  over: Partial<EventBodies["approval.answered"]> = {},
): Draft<"approval.answered"> {
  const body = { approval: `a_${call}`, session, call, revision: 1, fingerprint: fingerprintOf(call), by: TESTER, reason: null };
  return draftOf("approval.answered", { ...body, outcome: "approved", ...over });
}

/** Drafts the close of `a_CALL` without an answer; cancelled by default. */
export function closedDraft(session: string, call: string, over: Partial<EventBodies["approval.closed"]> = {}): Draft<"approval.closed"> {
  return draftOf("approval.closed", { approval: `a_${call}`, session, call, revision: 1, outcome: "cancelled", by: "test", ...over });
}

/** Drafts a grant's or hook's consent to the default ask. */
export function liftedDraft(call: string, by: EventBodies["call.answered"]["by"]): Draft<"call.answered"> {
  return draftOf("call.answered", {
    call,
    fingerprint: fingerprintOf(call),
    by,
    source: by.kind === "grant" ? "grant_session" : "permission_request_hook_allow",
  });
}

/** Drafts a claim; of an allowed call unless it names an answer. */
export function claimedDraft(call: string, over: Partial<EventBodies["call.claimed"]> = {}): Draft<"call.claimed"> {
  const body = { call, fingerprint: fingerprintOf(call), answer: null, attempt: 1, idempotencyKey: null, plan: null };
  return draftOf("call.claimed", { ...body, durability: "full", ...over });
}

/** Drafts a call's end; succeeded by default. */
export function endedDraft(call: string, over: Partial<EventBodies["call.ended"]> = {}): Draft<"call.ended"> {
  return draftOf("call.ended", { call, outcome: "succeeded", type: null, content: "done", durationMs: 1, ...over });
}

/** Drafts the remembered answer `grant`; for the user by default. */
export function grantedDraft(grant: string, over: Partial<EventBodies["grant.created"]> = {}): Draft<"grant.created"> {
  return draftOf("grant.created", { grant, scope: "user", rule: "note", tool: "note", madeBy: "Tester", approval: "a_first", ...over });
}

/** The digest in a proposal's drafts. */
export function proposalDigestOf(proposal: string): string {
  return `digest-of-${proposal}`;
}

/** Drafts a staged proposal; without contents or call by default. */
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

/** Drafts the claim of a staged proposal; by the model by default. */
export function applyingDraft(proposal: string, over: Partial<EventBodies["proposal.applying"]> = {}): Draft<"proposal.applying"> {
  const resolution = { action: "apply", by: "model", reason: "it is right", at: DRAFTED_AT } as const;
  return draftOf("proposal.applying", { proposal, digest: proposalDigestOf(proposal), resolution, ...over });
}

/** Drafts the tester's request about a proposal; to apply it by default. */
export function requestedDraft(
  session: string,
  proposal: string,
  over: Partial<EventBodies["proposal.requested"]> = {},
): Draft<"proposal.requested"> {
  const body = { proposal, session, digest: proposalDigestOf(proposal), reason: null, by: TESTER };
  return draftOf("proposal.requested", { ...body, action: "apply", ...over });
}

/** Drafts one question with two options, asked by a call. */
export function askedDraft(question: string, callId: string, over: Partial<EventBodies["question.asked"]> = {}): Draft<"question.asked"> {
  const one = { id: "db", question: "Which database?", options: [{ label: "SQLite" }, { label: "Postgres" }], multi: false };
  return draftOf("question.asked", { question, callId, fingerprint: fingerprintOf(callId), questions: [one], ...over });
}

/** Drafts the tester's answer to a question; the first option by default. */
export function repliedDraft(
  session: string,
  question: string,
  over: Partial<EventBodies["question.answered"]> = {},
): Draft<"question.answered"> {
  const answers = [{ id: "db", selected: ["SQLite"] }];
  return draftOf("question.answered", { question, session, outcome: "answered", answers, by: TESTER, reason: null, ...over });
}

/** Drafts the start of a background agent; by call `c1` by default. */
export function startedTaskDraft(task: string, over: Partial<EventBodies["task.started"]> = {}): Draft<"task.started"> {
  const agent = { agent: "explorer", description: "looks around", prompt: "look", call: "c1", session: `s_${task}` };
  return draftOf("task.started", { task, ...agent, model: null, mode: "default", digest: null, ...over });
}

/** Drafts a background agent's end; completed by default. */
export function endedTaskDraft(task: string, over: Partial<EventBodies["task.ended"]> = {}): Draft<"task.ended"> {
  const usage = { totalTokens: 0, toolUses: 0, durationMs: 1 };
  const body = { task, result: "done", error: null, partial: false, usage, settled: true, by: null };
  return draftOf("task.ended", { ...body, status: "completed", ...over });
}

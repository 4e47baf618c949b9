import type { By } from "./answer.ts";
import type { ConfirmationDetails } from "./confirmation.ts";
import type { RuleRef, TraceEntry, Verdict } from "./decision.ts";
import type { ShownEffect } from "./effect-preview.ts";
import type { GrantScope } from "./grant.ts";
import type { Holder } from "./holder.ts";
import type { Json, JsonObject } from "./json/json.ts";
import type { Kind } from "./kind.ts";
import type { ApprovalSource } from "./notification-source.ts";
import type { OutcomeState } from "./outcome.ts";
import type { ProposalEventBodies } from "./proposal/events.ts";
import type { ProposalPart } from "./proposal/part.ts";
import type { Question, QuestionAnswer } from "./question/question.ts";
import type { Containment } from "./request.ts";
import type { Content, Display, SpilledOutput } from "./result/result.ts";
import type { ScheduleEventBodies, TaskEventBodies, TaskProcess } from "./task/events.ts";
import type { TurnEventBodies } from "./turn-events.ts";

/** A session of another agent, such as Claude Code: its name for rules, its title for people, and its own session id. */
export type SessionGroup = {
  readonly client: string;
  readonly title: string;
  readonly id: string;
  /** The agent's process. When it is gone, its calls are over. */
  readonly process?: Pick<Holder, "pid" | "host" | "processStart">;
};

/** The chain that every process may append to. */
export const SHARED = "_store";

/** The body of every event type; a test pins names and shapes, because they are on disk. */
export type EventBodies = ProposalEventBodies &
  TaskEventBodies &
  ScheduleEventBodies &
  TurnEventBodies & {
    "session.created": {
      readonly cwd: string;
      readonly workspace: string;
      readonly door: string;
      readonly mode: string;
      readonly model: string | null;
      readonly version: string;
      readonly parent: { readonly session: string; readonly call: string; readonly task: string } | null;
      readonly agent: string | null;
      readonly policy: string;
      readonly title: string;
      readonly options?: JsonObject;
      readonly forked?: { readonly session: string; readonly seq: number };
      /** The session of another agent whose calls Assent judges and records, but does not run. */
      readonly group?: SessionGroup;
    };
    "session.opened": Holder & { readonly recovered: readonly { readonly call: string; readonly to: string }[] };
    "session.closed": {
      /** `queued`: left to a worker. */
      readonly reason: "done" | "failed" | "cancelled" | "parked" | "queued" | "limit" | "reset";
      readonly exit: number;
    };
    "mode.changed": {
      readonly from: string;
      readonly to: string;
      readonly by: string;
      /** With `to: plan`: the mode to return to, and the plan's file. */
      readonly planning?: { readonly remembered: string; readonly file: string };
    };
    "model.changed": { readonly from: string | null; readonly to: string | null; readonly by: string };
    "policy.changed": { readonly revision: string; readonly digest: string };
    "call.proposed": {
      readonly call: string;
      readonly turn: number;
      readonly index: number;
      readonly tool: string;
      /** As received: text, or a value the caller parsed. */
      readonly raw: Json;
      readonly givenId: string | null;
      readonly calledAs?: string;
    };
    "call.judged": {
      readonly call: string;
      readonly revision: number;
      readonly fingerprint?: string;
      readonly tool: string;
      readonly toolDigest: string;
      readonly kind: Kind;
      readonly safe: boolean;
      readonly input: JsonObject;
      readonly coerced?: readonly JsonObject[];
      readonly cwd: string;
      readonly binds: Readonly<Record<string, string>>;
      readonly verdict: Verdict;
      readonly explicitAsk: boolean;
      readonly reason: string;
      readonly source: string;
      readonly rule: RuleRef | null;
      readonly trace: readonly TraceEntry[];
      readonly units: number;
      readonly planDigest?: string;
      readonly containment?: Containment;
      readonly policy: string;
      /** The versions that the policy's files name. */
      readonly policyVersion?: string;
      readonly editedBy?: string;
    };
    "approval.opened": {
      readonly approval: string;
      readonly call: string;
      readonly revision: number;
      readonly fingerprint: string;
      readonly tool: string;
      readonly title: string;
      readonly reason: string;
      readonly source: string;
      readonly rule: RuleRef | null;
      readonly explicitAsk: boolean;
      readonly details: ConfirmationDetails;
      readonly facts: Json;
      readonly suggestions: readonly string[];
      readonly expiresAt: string | null;
      /** Where it can be approved; anywhere if absent. */
      readonly answersFrom?: readonly string[];
      /** The preview among the details, whose changes an answer may write. */
      readonly preview?: { readonly id: string; readonly writable: boolean };
    };
    "call.answered": {
      readonly call: string;
      readonly fingerprint: string;
      /** `also`: further grants that were needed. */
      readonly by: { readonly kind: "grant" | "hook"; readonly id: string; readonly also?: readonly string[] };
      readonly source: ApprovalSource;
    };
    "call.claimed": {
      readonly call: string;
      readonly fingerprint?: string;
      /** The event that gave consent; null for an allow verdict. */
      readonly answer: { readonly pos: number } | null;
      readonly attempt: number;
      readonly durability: "full" | "normal";
      readonly idempotencyKey: string | null;
      readonly plan: Json;
    };
    "call.started": { readonly call: string } & TaskProcess;
    "call.ended": {
      readonly call: string;
      readonly outcome: OutcomeState;
      readonly type: string | null;
      readonly content: Content;
      /** Absent if `content` is this value, or if it is too large. */
      readonly value?: Json;
      readonly display?: Display;
      readonly durationMs: number;
      readonly evidence?: JsonObject;
      readonly modelOverride?: string;
      readonly details?: Json;
      readonly spilled?: readonly SpilledOutput[];
    };
    /** A call is about to run on a copy of the workspace; nothing it does there is an effect. */
    "preview.started": {
      readonly preview: string;
      /** Not named `call`, because a preview does not change the state of its call. */
      readonly callId: string;
      readonly fingerprint: string;
      readonly by: "person" | "settings";
    };
    "preview.ended": {
      readonly preview: string;
      readonly callId: string;
      readonly fingerprint: string;
      /** Null if it could not be made; `problem` says why. */
      readonly shown: ShownEffect | null;
      readonly problem?: string;
      /** A `ProposalManifest` without blocks. */
      readonly manifest: Json;
      /** SHA-256 (hex) of every content before and after. */
      readonly contents: readonly string[];
      /** The result of the call, if its changes are written. */
      readonly result: Content;
    };
    "question.asked": {
      readonly question: string;
      readonly callId: string;
      readonly fingerprint: string;
      readonly questions: readonly Question[];
    };
    "question.answered": {
      readonly question: string;
      readonly session: string;
      readonly outcome: "answered" | "declined" | "expired" | "cancelled";
      readonly answers?: readonly QuestionAnswer[];
      readonly by: By;
      readonly reason: string | null;
    };
    "hook.ran": {
      readonly event: string;
      readonly hook: string;
      /** `allow`, `ask`, `deny`, `none`, `stop`, `feedback`, `failed` or `cancelled`. */
      readonly outcome: string;
      readonly durationMs: number;
      /** Not named `call`, because a hook's run may follow the end of the call. */
      readonly callId?: string;
      /** Null if the program did not exit by itself. */
      readonly exit?: number | null;
      readonly digest?: string;
      readonly cause?: string;
      /** Input keys; `tool_response` for a result. */
      readonly changed?: readonly string[];
    };

    "approval.answered": {
      readonly approval: string;
      readonly session: string;
      readonly call: string;
      readonly revision: number;
      readonly outcome: "approved" | "rejected";
      readonly fingerprint: string;
      readonly edited?: { readonly input: JsonObject; readonly fingerprint: string };
      readonly by: By;
      readonly reason: string | null;
      readonly mode?: string;
      /** The preview whose changes are written; the call does not run. */
      readonly write?: string;
      /** For a call of `resolve`: the part of the proposal that is applied. */
      readonly part?: ProposalPart;
      readonly remember?: { readonly scope: GrantScope; readonly rules: readonly string[] };
      /** No grant may answer this ask, so an "always" applied once. */
      readonly narrowed?: boolean;
      readonly interrupt?: boolean;
    };
    "approval.closed": {
      readonly approval: string;
      readonly session: string;
      readonly call: string;
      readonly revision: number;
      readonly outcome: "expired" | "cancelled" | "denied";
      readonly by: string;
    };
    "grant.created": {
      readonly grant: string;
      readonly scope: GrantScope;
      readonly session?: string;
      readonly workspace?: string;
      readonly rule: string;
      readonly tool: string;
      readonly madeBy: string;
      readonly expiresAt?: string;
      readonly uses?: number;
      readonly approval: string;
    };
    "grant.used": { readonly grant: string; readonly session: string; readonly call: string };
    "grant.revoked": { readonly grant: string; readonly by: string };
    /** Asks the process that holds the session to cancel a call, a task, or, with neither, all that the session does now. */
    "cancel.requested": {
      readonly session: string;
      /** Not named `call`, because the request does not change the state of the call. */
      readonly target: { readonly call: string } | { readonly task: string } | null;
      readonly reason: string | null;
      readonly by: By;
    };
    "trust.granted": {
      readonly workspace: string;
      readonly device: string;
      readonly inode: string;
      /** Covers all project configuration files. */
      readonly digest: string;
      /** To display later changes; base64 if not UTF-8. */
      readonly files: readonly ({ readonly name: string; readonly text: string } | { readonly name: string; readonly base64: string })[];
      readonly by: By;
    };
    "trust.revoked": { readonly workspace: string; readonly by: By };
    /** Remembers what a receiver of notifications was told, so that it is not told again by another process. */
    "notification.sent": {
      readonly session: string;
      /** The type and a short digest of its address. */
      readonly receiver: string;
      /** What it was told, such as `approval:a_…`. */
      readonly items: readonly string[];
      /** A random name of the sender. */
      readonly by: string;
      /** `sending`: another process may try after `until`. */
      readonly state: "sending" | "sent";
      readonly until: string | null;
    };
    "store.created": { readonly store: string; readonly version: number };
    "store.epoch": {
      readonly epoch: number;
      readonly session: string;
      readonly holder: Holder;
      readonly device: string;
      readonly inode: string;
    };
    "store.migrated": { readonly from: number; readonly to: number };
    "store.checkpoint": { readonly heads: readonly { readonly session: string; readonly seq: number; readonly hash: string }[] };
    /** `state` is the snapshot's SHA-256, `hash` that of the event at `seq`. */
    "store.snapshot": { readonly session: string; readonly seq: number; readonly hash: string; readonly state: string };
    "store.repaired": { readonly session: string; readonly goodSeq: number; readonly lostFrom: number };
    "store.restored": { readonly approvals: number };
    "store.pruned": { readonly session: string; readonly seq: number; readonly hash: string };
    "session.registered": { readonly session: string };
  };

/** An event type that this version knows. */
export type EventType = keyof EventBodies;

/** An event that is not stored yet. */
export type Draft<T extends EventType = EventType> = {
  [K in T]: { readonly type: K; readonly v: 1; readonly at: string; readonly body: EventBodies[K] };
}[T];

/** An event's chain, its sequence there, and its position in the store. */
export type Place = {
  readonly session: string;
  readonly seq: number;
  readonly pos: number;
  readonly epoch: number;
  /** Only in stores with hash chains. */
  readonly prev?: string;
  readonly hash?: string;
};

/** A stored event of a known type and version. */
export type LedgerEvent<T extends EventType = EventType> = Draft<T> & Place;

/** A stored event as read; a newer version may have written it. */
export type StoredEvent = Place & { readonly at: string; readonly type: string; readonly v: number; readonly body: JsonObject };

import type { By } from "./answer.ts";
import type { ConfirmationDetails } from "./confirmation.ts";
import type { RuleRef, TraceEntry, Verdict } from "./decision.ts";
import type { GrantScope } from "./grant.ts";
import type { Holder } from "./holder.ts";
import type { Json, JsonObject } from "./json/json.ts";
import type { Kind } from "./kind.ts";
import type { OutcomeState } from "./outcome.ts";
import type { ProposalEventBodies } from "./proposal/events.ts";
import type { QuestionEventBodies } from "./question/events.ts";
import type { Content, Display, Spilled } from "./result/result.ts";
import type { ScheduleEventBodies, TaskEventBodies, TaskProcess } from "./task/events.ts";
import type { TurnEventBodies } from "./turn-events.ts";

/** The chain any process may append to: answers, grants, trust and the store's own records. */
export const SHARED = "_store";

/** The body of every event type this version writes; a test pins the names and shapes, because they are on disk. */
export type EventBodies = ProposalEventBodies &
  QuestionEventBodies &
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
      /** The options needed to resume the session as it began. */
      readonly options?: JsonObject;
      /** The session and position this conversation was forked from. */
      readonly forked?: { readonly session: string; readonly seq: number };
    };
    "session.opened": Holder & { readonly recovered: readonly { readonly call: string; readonly to: string }[] };
    "session.closed": {
      readonly reason: "done" | "failed" | "cancelled" | "parked" | "limit" | "reset";
      readonly exit: number;
    };
    "mode.changed": {
      readonly from: string;
      readonly to: string;
      readonly by: string;
      /** With `to: plan`: the mode to return to and the plan's file. */
      readonly planning?: { readonly remembered: string; readonly file: string };
    };
    "model.changed": { readonly from: string | null; readonly to: string | null; readonly by: string };
    "policy.changed": { readonly revision: string; readonly digest: string };
    "call.proposed": {
      readonly call: string;
      readonly turn: number;
      readonly index: number;
      readonly tool: string;
      /** The arguments as received: text, or a value already parsed by the caller. */
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
      readonly policy: string;
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
    };
    "call.answered": {
      readonly call: string;
      readonly fingerprint: string;
      /** `also`: further grants that consented; all must hold until the claim. */
      readonly by: { readonly kind: "grant" | "hook"; readonly id: string; readonly also?: readonly string[] };
      /** The stable name of the consent's source, e.g. `grant_session`. */
      readonly source: string;
    };
    "call.claimed": {
      readonly call: string;
      readonly fingerprint?: string;
      /** Position of the event that gave consent; null for an allow verdict. */
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
      /** Absent if `content` is this value, or if it is too large to be recorded. */
      readonly value?: Json;
      readonly display?: Display;
      readonly durationMs: number;
      readonly evidence?: JsonObject;
      readonly modelOverride?: string;
      readonly details?: Json;
      readonly spilled?: readonly Spilled[];
    };
    "hook.ran": {
      readonly event: string;
      readonly hook: string;
      /** `allow`, `ask`, `deny`, `none`, `stop`, `feedback`, `failed` or `cancelled`. */
      readonly outcome: string;
      readonly durationMs: number;
      /** The call it looked at. Not named `call`, because a hook's run may follow the end of the call. */
      readonly callId?: string;
      /** A program's exit code; null if it did not exit by itself. */
      readonly exit?: number | null;
      /** SHA-256 of its output. */
      readonly digest?: string;
      readonly cause?: string;
      /** The input keys it changed; `tool_response` for a result. */
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
      readonly remember?: { readonly scope: GrantScope; readonly rules: readonly string[] };
      /** An "always" answered an ask that no grant may answer, so it applied once. */
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
    "trust.granted": {
      /** Real path of the directory. */
      readonly workspace: string;
      readonly device: string;
      readonly inode: string;
      /** Over the names and bytes of all project configuration files. */
      readonly digest: string;
      /** The files as shown, to display later changes; base64 if they are not UTF-8. */
      readonly files: readonly ({ readonly name: string; readonly text: string } | { readonly name: string; readonly base64: string })[];
      readonly by: By;
    };
    "trust.revoked": { readonly workspace: string; readonly by: By };
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
    /** Commits the chain to a snapshot: `state` is its SHA-256, `hash` that of the event at `seq`. */
    "store.snapshot": { readonly session: string; readonly seq: number; readonly hash: string; readonly state: string };
    "store.repaired": { readonly session: string; readonly goodSeq: number; readonly lostFrom: number };
    "store.restored": { readonly approvals: number };
    "store.pruned": { readonly session: string; readonly seq: number; readonly hash: string };
    "session.registered": { readonly session: string };
  };

/** An event type known to this version. */
export type EventType = keyof EventBodies;

/** An event that is not stored yet. */
export type Draft<T extends EventType = EventType> = {
  [K in T]: { readonly type: K; readonly v: 1; readonly at: string; readonly body: EventBodies[K] };
}[T];

/** An event's chain, its sequence in the chain, and its unhashed position in the store. */
export type Place = {
  readonly session: string;
  readonly seq: number;
  readonly pos: number;
  readonly epoch: number;
  /** Set by stores that hash-chain. */
  readonly prev?: string;
  readonly hash?: string;
};

/** A stored event of a known type and version. */
export type LedgerEvent<T extends EventType = EventType> = Draft<T> & Place;

/** A stored event as read, possibly newer than this program. */
export type StoredEvent = Place & { readonly at: string; readonly type: string; readonly v: number; readonly body: JsonObject };

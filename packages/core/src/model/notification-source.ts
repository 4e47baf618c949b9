import type { Remember } from "./answer.ts";
import type { Decision, Verdict } from "./decision.ts";
import type { GrantScope } from "./grant.ts";

/** How a decision notification may say that it ended; the spelling `canceled` is part of the contract. */
export const APPROVAL_DECISIONS: readonly ["allow", "deny", "canceled"] = Object.freeze(["allow", "deny", "canceled"] as const);

/** One of `APPROVAL_DECISIONS`. */
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number];

const SOURCES = [
  "guard_deny",
  "session_permissions_allow",
  "session_permissions_deny",
  "project_permissions_allow",
  "project_permissions_deny",
  "user_permissions_allow",
  "user_permissions_deny",
  "team_permissions_allow",
  "team_permissions_deny",
  "mode_plan",
  "mode_auto_edit",
  "yolo",
  "readonly_hint",
  "confined",
  "tool_permission_allow",
  "tool_permission_deny",
  "pre_tool_use_hook_allow",
  "pre_tool_use_hook_deny",
  "permission_request_hook_allow",
  "permission_request_hook_deny",
  "grant_session",
  "grant_project",
  "grant_user",
  "user_approved",
  "user_approved_session",
  "user_approved_tool",
  "user_approved_project",
  "user_approved_user",
  "user_rejected",
  "unattended_deny",
  "approval_expired",
  "context_canceled",
  "run_stopped",
] as const;

/** Who made a decision, as `on_tool_approval_decision` and `decided` say it; the strings do not change. */
export const APPROVAL_SOURCES: typeof SOURCES = Object.freeze(SOURCES);

/** One of `APPROVAL_SOURCES`. */
export type ApprovalSource = (typeof SOURCES)[number];

/** The stable strings of a decision notification. */
export type NotificationSource = { readonly decision: ApprovalDecision; readonly source: ApprovalSource };

/** The source of a final verdict; an unanswered ask counts as a deny. */
export function decidedSource(decision: Decision): NotificationSource {
  const verdict = decision.verdict === "allow" ? "allow" : "deny";
  return { decision: verdict, source: judgedBy(decision, verdict) };
}

export function grantSource(scope: GrantScope): NotificationSource {
  return { decision: "allow", source: `grant_${scope}` };
}

export function permissionHookSource(verdict: Exclude<Verdict, "ask">): NotificationSource {
  return { decision: verdict, source: `permission_request_hook_${verdict}` };
}

/** The source of a person's answer, with `remember` as it was stored. */
export function answerSource(answer: { readonly outcome: "approve" | "reject"; readonly remember?: Remember }): NotificationSource {
  if (answer.outcome === "reject") return { decision: "deny", source: "user_rejected" };
  return { decision: "allow", source: answer.remember ? REMEMBERED[reachOf(answer.remember)] : "user_approved" };
}

export const UNATTENDED: NotificationSource = Object.freeze({ decision: "deny", source: "unattended_deny" });

export const GUARD_DENIED: NotificationSource = Object.freeze({ decision: "deny", source: "guard_deny" });

export const EXPIRED: NotificationSource = Object.freeze({ decision: "deny", source: "approval_expired" });

export const CANCELED: NotificationSource = Object.freeze({ decision: "canceled", source: "context_canceled" });

export const RUN_STOPPED: NotificationSource = Object.freeze({ decision: "canceled", source: "run_stopped" });

function judgedBy({ reason, source, scope }: Decision, verdict: "allow" | "deny"): ApprovalSource {
  switch (reason) {
    case "guard":
      return GUARD_DENIED.source;
    case "checker":
      return `${scope === "session" || scope === "project" || scope === "user" ? scope : "team"}_permissions_${verdict}`;
    case "mode":
      return source === "plan" ? "mode_plan" : "mode_auto_edit";
    case "hook":
      return `pre_tool_use_hook_${verdict}`;
    case "tool":
      return `tool_permission_${verdict}`;
    case "yolo":
    case "readonly_hint":
    case "confined":
      return reason;
    case "default":
      return UNATTENDED.source;
    default:
      return reason satisfies never;
  }
}

const REMEMBERED = {
  everything: "user_approved_session",
  session: "user_approved_tool",
  project: "user_approved_project",
  user: "user_approved_user",
} as const;

/** Only an explicit answer for the whole session stores the rule `*`. */
function reachOf({ scope, rules }: Remember): keyof typeof REMEMBERED {
  return scope === "session" && rules?.includes("*") ? "everything" : scope;
}

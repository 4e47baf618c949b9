import type { Remember } from "./answer.ts";
import type { Decision, Verdict } from "./decision.ts";
import type { GrantScope } from "./grant.ts";

/** The stable strings of a decision notification; consumers match on them, including the spelling `canceled`. */
export type NotificationSource = { readonly decision: "allow" | "deny" | "canceled"; readonly source: string };

/** The source of a final verdict; an unanswered ask counts as a deny by the asker. */
export function decidedSource(decision: Decision): NotificationSource {
  const verdict = decision.verdict === "allow" ? "allow" : "deny";
  return { decision: verdict, source: judgedBy(decision, verdict) };
}

/** A grant answered the ask. */
export function grantSource(scope: GrantScope): NotificationSource {
  return { decision: "allow", source: `grant_${scope}` };
}

/** A `permission_request` hook answered the ask. */
export function permissionHookSource(verdict: Exclude<Verdict, "ask">): NotificationSource {
  return { decision: verdict, source: `permission_request_hook_${verdict}` };
}

/** The source for a person's answer. Pass `remember` only as far as it was stored. */
export function answerSource(answer: { readonly outcome: "approve" | "reject"; readonly remember?: Remember }): NotificationSource {
  if (answer.outcome === "reject") return { decision: "deny", source: "user_rejected" };
  return { decision: "allow", source: answer.remember ? REMEMBERED[reachOf(answer.remember)] : "user_approved" };
}

/** No one was available to ask. */
export const UNATTENDED: NotificationSource = Object.freeze({ decision: "deny", source: "unattended_deny" });

/** A safeguard refuses the request, or something it is bound to changed. */
export const GUARD_DENIED: NotificationSource = Object.freeze({ decision: "deny", source: "guard_deny" });

/** No answer came in time. */
export const EXPIRED: NotificationSource = Object.freeze({ decision: "deny", source: "approval_expired" });

/** The call was cancelled before it had a verdict or an answer. */
export const CANCELED: NotificationSource = Object.freeze({ decision: "canceled", source: "context_canceled" });

/** A hook stopped the run while the call was waiting. */
export const RUN_STOPPED: NotificationSource = Object.freeze({ decision: "canceled", source: "run_stopped" });

function judgedBy({ reason, source, scope }: Decision, verdict: "allow" | "deny"): string {
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

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Decision, Scope } from "../../src/model/decision.ts";
import {
  answerSource,
  CANCELED,
  decidedSource,
  EXPIRED,
  grantSource,
  type NotificationSource,
  permissionHookSource,
  RUN_STOPPED,
  UNATTENDED,
} from "../../src/model/notification-source.ts";

const table: readonly (readonly [sentence: string, given: NotificationSource, decision: string, source: string])[] = [
  ["mode yolo", decidedSource(by("allow", "yolo")), "allow", "yolo"],
  ["mode auto-edit", decidedSource(by("allow", "mode", { source: "auto-edit" })), "allow", "mode_auto_edit"],
  ["mode plan, the plan file", decidedSource(by("allow", "mode", { source: "plan" })), "allow", "mode_plan"],
  ["mode plan, all else", decidedSource(by("deny", "mode", { source: "plan" })), "deny", "mode_plan"],
  ["session rules", checker("allow", "session"), "allow", "session_permissions_allow"],
  ["session rules", checker("deny", "session"), "deny", "session_permissions_deny"],
  ["project rules", checker("allow", "project"), "allow", "project_permissions_allow"],
  ["project rules", checker("deny", "project"), "deny", "project_permissions_deny"],
  ["user rules", checker("allow", "user"), "allow", "user_permissions_allow"],
  ["user rules", checker("deny", "user"), "deny", "user_permissions_deny"],
  ["team rules", checker("allow", "team"), "allow", "team_permissions_allow"],
  ["team rules", checker("deny", "team"), "deny", "team_permissions_deny"],
  ["a policy file counts as team", checker("deny", "policy"), "deny", "team_permissions_deny"],
  ["any other scope counts as team", checker("allow", "elsewhere" as Scope), "allow", "team_permissions_allow"],
  ["a guard", decidedSource(by("deny", "guard", { source: "own-files" })), "deny", "guard_deny"],
  ["a hook's opinion", decidedSource(by("allow", "hook", { source: "h" })), "allow", "pre_tool_use_hook_allow"],
  ["a hook's opinion", decidedSource(by("deny", "hook", { source: "h" })), "deny", "pre_tool_use_hook_deny"],
  ["the tool's opinion", decidedSource(by("allow", "tool")), "allow", "tool_permission_allow"],
  ["the tool's opinion", decidedSource(by("deny", "tool")), "deny", "tool_permission_deny"],
  ["the read-only hint", decidedSource(by("allow", "readonly_hint")), "allow", "readonly_hint"],
  ["an unanswered ask", decidedSource(by("ask", "default")), "deny", "unattended_deny"],
  ["an unanswered ask rule", checker("ask", "user"), "deny", "user_permissions_deny"],
  ["a grant", grantSource("session"), "allow", "grant_session"],
  ["a grant", grantSource("project"), "allow", "grant_project"],
  ["a grant", grantSource("user"), "allow", "grant_user"],
  ["a permission hook", permissionHookSource("allow"), "allow", "permission_request_hook_allow"],
  ["a permission hook", permissionHookSource("deny"), "deny", "permission_request_hook_deny"],
  ["no one to ask", UNATTENDED, "deny", "unattended_deny"],
  ["a plain yes", answerSource({ outcome: "approve" }), "allow", "user_approved"],
  [
    "yes to the whole session",
    answerSource({ outcome: "approve", remember: { scope: "session", rules: ["*"] } }),
    "allow",
    "user_approved_session",
  ],
  ["yes to the offered rules", answerSource({ outcome: "approve", remember: { scope: "session" } }), "allow", "user_approved_tool"],
  ["yes to a rule", answerSource({ outcome: "approve", remember: { scope: "session", rules: ["t*"] } }), "allow", "user_approved_tool"],
  ["yes in the project", answerSource({ outcome: "approve", remember: { scope: "project" } }), "allow", "user_approved_project"],
  ["yes for the user", answerSource({ outcome: "approve", remember: { scope: "user" } }), "allow", "user_approved_user"],
  ["no", answerSource({ outcome: "reject" }), "deny", "user_rejected"],
  ["too late", EXPIRED, "deny", "approval_expired"],
  ["cancelled", CANCELED, "canceled", "context_canceled"],
  ["the run was stopped", RUN_STOPPED, "canceled", "run_stopped"],
];

for (const [sentence, given, decision, source] of table) {
  test(`${sentence}: ${decision} by ${source}`, () => assert.deepEqual(given, { decision, source }));
}

function by(verdict: Decision["verdict"], reason: Decision["reason"], more: Partial<Decision> = {}): Decision {
  return { verdict, reason, source: "", explicitAsk: false, unit: 0, units: 1, byRules: false, trace: [], ...more };
}

function checker(verdict: Decision["verdict"], scope: Scope): NotificationSource {
  return decidedSource(by(verdict, "checker", { source: "a label", scope }));
}

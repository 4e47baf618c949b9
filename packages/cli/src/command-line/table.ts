import { apply } from "../commands/apply.ts";
import { approvals } from "../commands/approvals.ts";
import { approvalsShow } from "../commands/approvals-show.ts";
import { approve } from "../commands/approve.ts";
import { audit } from "../commands/audit.ts";
import { auditSend } from "../commands/audit-send.ts";
import { call } from "../commands/call.ts";
import { cancel } from "../commands/cancel.ts";
import { completions } from "../commands/completions.ts";
import { demo } from "../commands/demo.ts";
import { discard } from "../commands/discard.ts";
import { doctor } from "../commands/doctor.ts";
import { explain } from "../commands/explain.ts";
import { grants } from "../commands/grants.ts";
import { grantsPromote } from "../commands/grants-promote.ts";
import { grantsRevoke } from "../commands/grants-revoke.ts";
import { help } from "../commands/help.ts";
import { hook } from "../commands/hook.ts";
import { hookDoctor } from "../commands/hook-doctor.ts";
import { hookInstall } from "../commands/hook-install.ts";
import { hookStatus } from "../commands/hook-status.ts";
import { hookUninstall } from "../commands/hook-uninstall.ts";
import { inbox } from "../commands/inbox.ts";
import { log } from "../commands/log.ts";
import { mcpAdd } from "../commands/mcp-add.ts";
import { mcpInstall } from "../commands/mcp-install.ts";
import { mcpList } from "../commands/mcp-list.ts";
import { mcpLogin } from "../commands/mcp-login.ts";
import { mcpLogout } from "../commands/mcp-logout.ts";
import { mcpRemove } from "../commands/mcp-remove.ts";
import { mcpServe } from "../commands/mcp-serve.ts";
import { mcpTest } from "../commands/mcp-test.ts";
import { mcpUninstall } from "../commands/mcp-uninstall.ts";
import { notifyTest } from "../commands/notify-test.ts";
import { policyCheck } from "../commands/policy-check.ts";
import { policyDiff } from "../commands/policy-diff.ts";
import { policyFetch } from "../commands/policy-fetch.ts";
import { policyTest } from "../commands/policy-test.ts";
import { proposals } from "../commands/proposals.ts";
import { proposalsShow } from "../commands/proposals-show.ts";
import { prune } from "../commands/prune.ts";
import { reject } from "../commands/reject.ts";
import { resume } from "../commands/resume.ts";
import { run } from "../commands/run.ts";
import { sessions } from "../commands/sessions.ts";
import { sessionsExport } from "../commands/sessions-export.ts";
import { sessionsFork } from "../commands/sessions-fork.ts";
import { stats } from "../commands/stats.ts";
import { statsStore } from "../commands/stats-store.ts";
import { storeCopy } from "../commands/store-copy.ts";
import { storeMigrate } from "../commands/store-migrate.ts";
import { storeRoles } from "../commands/store-roles.ts";
import { tasks } from "../commands/tasks.ts";
import { tasksDiscard } from "../commands/tasks-discard.ts";
import { tasksRelease } from "../commands/tasks-release.ts";
import { tools } from "../commands/tools.ts";
import { trust } from "../commands/trust.ts";
import { tui } from "../commands/tui.ts";
import { undo } from "../commands/undo.ts";
import { verify } from "../commands/verify.ts";
import { version } from "../commands/version.ts";
import { watch } from "../commands/watch.ts";
import { worker } from "../commands/worker.ts";
import { workers } from "../commands/workers.ts";
import type { Command } from "./spec.ts";

/** In the order of `assent --help`. */
export const COMMANDS: readonly Command[] = [
  ...[tui, run, call, resume, worker, hook, demo],
  ...[inbox, watch, notifyTest, approvals, approvalsShow, approve, reject, grants, grantsRevoke],
  ...[proposals, proposalsShow, apply, discard, undo],
  ...[explain, policyCheck, policyDiff, policyTest, policyFetch, stats, statsStore, grantsPromote, trust],
  ...[sessions, sessionsFork, sessionsExport, cancel, workers, tasks, tasksDiscard, tasksRelease, log, audit, tools],
  ...[mcpServe, mcpList, mcpAdd, mcpRemove, mcpTest, mcpLogin, mcpLogout, mcpInstall, mcpUninstall],
  ...[hookInstall, hookUninstall, hookStatus, hookDoctor],
  ...[verify, auditSend, doctor, prune, storeMigrate, storeCopy, storeRoles, completions],
  ...[help, version],
];

export { type ApproverUnderTest, sampleApproval, testApprover } from "./approver-suite.ts";
export { countingIds } from "./counting-ids.ts";
export {
  answeredDraft,
  applyingDraft,
  askedDraft,
  claimedDraft,
  closedDraft,
  closedSessionDraft,
  createdDraft,
  DRAFTED_AT,
  draftOf,
  endedDraft,
  endedTaskDraft,
  fingerprintOf,
  grantedDraft,
  judgedDraft,
  liftedDraft,
  openedDraft,
  proposalDigestOf,
  proposedDraft,
  repliedDraft,
  requestedDraft,
  stagedDraft,
  startedTaskDraft,
  TESTER,
} from "./drafts.ts";
export { type HookScript, type HooksMaker, type HooksUnderTest, type ScriptedHook, testHooks } from "./hooks-suite.ts";
export type { LedgerUnderTest } from "./ledger-bench.ts";
export { type LedgerSuiteOptions, testLedger } from "./ledger-suite.ts";
export { type ManualClock, manualClock } from "./manual-clock.ts";
export { type ApprovalScript, type ScriptedAnswer, type ScriptedApprover, scriptedApprover } from "./scripted-approver.ts";

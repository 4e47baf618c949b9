export { decide, strictest } from "./model/decide.ts";
export { applyHunks } from "./model/diff/apply-hunks.ts";
export { firstIndex } from "./model/diff/first-index.ts";
export type { LineChange } from "./model/diff/line-changes.ts";
export { lineChanges, makeChangeBlocks } from "./model/diff/line-changes.ts";
export type { DiffLine, FileDiff, Hunk } from "./model/diff/parse-diff.ts";
export { parseDiff } from "./model/diff/parse-diff.ts";
export type { RangeChange } from "./model/diff/sequence-changes.ts";
export { sequenceChanges } from "./model/diff/sequence-changes.ts";
export type { Sides } from "./model/diff/unified-diff.ts";
export { diffStat, diffText, makeStat, unifiedDiff } from "./model/diff/unified-diff.ts";
export { PROGRAM_VARIABLES, SECRET_VARIABLES, SHELL_VARIABLES } from "./model/environment-names.ts";
export type { HookRan, HooksCombined } from "./model/hooks/combine.ts";
export { combineHooks, rewrittenInput } from "./model/hooks/combine.ts";
export type { HookEventRow, HookPoint } from "./model/hooks/event-table.ts";
export { HOOK_EVENTS, hookMayChange, hookPointNamed, STOP_HOOK_LIMIT, sharedHookName } from "./model/hooks/event-table.ts";
export { sessionHookInput, sharedMode } from "./model/hooks/input.ts";
export type { HookOutcome, HookRun } from "./model/hooks/output.ts";
export { readHookRun } from "./model/hooks/output.ts";
export { sharedToolName, toolsByForeignName } from "./model/hooks/tool-names.ts";
export { isJsonObject } from "./model/json/json.ts";
export { isApplyName, mayCover, sourceOfApply } from "./model/pattern/pattern.ts";
export { answersFault, DONE, isAnswered, OTHER, readQuestions } from "./model/question/question.ts";
export { readAnswers } from "./model/question/shape.ts";
export { composeCut, cutOutput, outputLimits } from "./model/result/cut-output.ts";
export { resolveModelOverride } from "./model/result/model-override.ts";
export { parseToolInput } from "./model/schema/parse-input.ts";
export type { LoopDetector, LoopDetectorOptions } from "./model/steering/loop-detector.ts";
export { createLoopDetector, loopError, loopWarning } from "./model/steering/loop-detector.ts";
export type {
  Choice,
  Directive,
  OnReject,
  PushOptions,
  QueueView,
  RejectReason,
  ServedChoice,
  ToolChoiceQueue,
} from "./model/steering/tool-choice-queue.ts";
export {
  clear as clearDirectives,
  consumeLastServedLabel,
  EMPTY_QUEUE,
  inspect as inspectDirectives,
  markInvoked,
  next as nextChoice,
  push as pushDirective,
  pushOnce,
  pushSequence,
  reject as rejectChoice,
  removeByLabel,
  resolve as resolveChoice,
} from "./model/steering/tool-choice-queue.ts";
export { NO_OUTPUT } from "./model/text/model-text.ts";
export { quoteWord } from "./model/text/quote-word.ts";
export type { ShownFile, ShownPart } from "./model/text/shown-content.ts";
export { showContent, showPart } from "./model/text/shown-content.ts";
export type { HookBody, HookEntry, HookFunction, HookSubject } from "./ports.ts";
export type { GrantReach } from "./runtime/approval/grants.ts";
export { coveringGrants } from "./runtime/approval/grants.ts";
export type { AssessmentInput, GatheredFacts } from "./runtime/pipeline/assess.ts";
export { assessRequest, decideRequest } from "./runtime/pipeline/assess.ts";
export { assessWithoutSession } from "./runtime/pipeline/assess-without-session.ts";
export type { HookWords } from "./runtime/pipeline/hook-words.ts";
export { hookEnvelope } from "./runtime/pipeline/hook-words.ts";
export type { Assessment } from "./runtime/pipeline/judged-call.ts";
export type { UnknownOutcomes } from "./runtime/pipeline/unknown-outcomes.ts";
export { createUnknownOutcomes } from "./runtime/pipeline/unknown-outcomes.ts";
export type { Modes, ModesParts } from "./runtime/policy/modes.ts";
export { createModes } from "./runtime/policy/modes.ts";
export type { PlanMode, PlanModeParts } from "./runtime/policy/plan-mode.ts";
export { createPlanMode, enterPlanMode } from "./runtime/policy/plan-mode.ts";
export { assessStaging } from "./runtime/proposal/assess-preview.ts";
export { callListener } from "./runtime/waiting.ts";

export type { HookBody, HookEntry, HookFunction, HookSubject } from "./hook-entry.ts";
export { composeCut, cutOutput, outputLimits } from "./model/cut-output.ts";
export { decide, strictest } from "./model/decide.ts";
export type { HookRan, HooksCombined } from "./model/hook-combine.ts";
export { combineHooks, rewrittenInput } from "./model/hook-combine.ts";
export type { HookEventRow, HookPoint } from "./model/hook-event-table.ts";
export { HOOK_EVENTS, hookMayChange, hookPointNamed, STOP_HOOK_LIMIT, sharedHookName } from "./model/hook-event-table.ts";
export type { HookSession } from "./model/hook-input.ts";
export { sessionHookInput, sharedMode } from "./model/hook-input.ts";
export type { HookOutcome, HookRun } from "./model/hook-output.ts";
export { readHookRun } from "./model/hook-output.ts";
export { createLoopDetector, loopError, loopWarning } from "./model/loop-detector.ts";
export { resolveModelOverride } from "./model/model-override.ts";
export { parseToolInput } from "./model/parse-tool-input.ts";
export { isApplyName, mayCover, sourceOfApply } from "./model/pattern.ts";
export { answersFault, DONE, isAnswered, OTHER, readQuestions } from "./model/question.ts";
export { readAnswers } from "./model/question-shape.ts";
export type {
  Choice,
  Directive,
  OnReject,
  PushOptions,
  QueueView,
  RejectReason,
  Served,
  ToolChoiceQueue,
} from "./model/tool-choice-queue.ts";
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
} from "./model/tool-choice-queue.ts";
export { sharedToolName, toolsNamed } from "./model/tool-names.ts";
export type { Assessed, Assessing } from "./runtime/assess.ts";
export { assessRequest } from "./runtime/assess.ts";
export { assessStaging } from "./runtime/assess-preview.ts";
export { assessWithoutSession } from "./runtime/assess-without-session.ts";
export type { GrantReach } from "./runtime/grants.ts";
export { coveringGrants } from "./runtime/grants.ts";
export type { HookWords } from "./runtime/hook-words.ts";
export { hookEnvelope } from "./runtime/hook-words.ts";
export type { Modes, ModesParts } from "./runtime/modes.ts";
export { createModes } from "./runtime/modes.ts";
export type { PlanMode, PlanModeParts } from "./runtime/plan-mode.ts";
export { attendPlanMode, enterPlanMode } from "./runtime/plan-mode.ts";
export type { UnknownOutcomes } from "./runtime/unknown-outcomes.ts";
export { unknownOutcomes } from "./runtime/unknown-outcomes.ts";

export type { BackgroundCommand, BackgroundCommands, BackgroundEnd, BackgroundLife } from "./background-commands.ts";
export { contentHash } from "./content-hash.ts";
export { AnswerError, GateError, ParkRequest, ToolDefinitionError, ToolError } from "./errors.ts";
export type { ChangeEnd, ChangeSet, FileChange, FileChanges, FileImage, PlanFiles, RecoveredChange } from "./file-ports.ts";
export type {
  ApprovalRow,
  ClaimLost,
  Cursor,
  Durability,
  EventFilter,
  GrantRow,
  Lease,
  Ledger,
  LedgerErrorType,
  Lists,
  PageQuery,
  QuestionRow,
  SessionRow,
  SharedDraft,
  Subscription,
} from "./ledger-port.ts";
export { LedgerError } from "./ledger-port.ts";
export type { Answer, By, Remember } from "./model/answer.ts";
export { isAcceptedPlace } from "./model/answer-place.ts";
export type { AnswerMeaning, AnswerWire } from "./model/answer-words.ts";
export { ANSWER_WORDS, PLAN_WORDS, readAnswerWord } from "./model/answer-words.ts";
export type { Call, Consent } from "./model/call.ts";
export { hasJudgement, isAsked, mayBeUnderWay, next } from "./model/call.ts";
export type { ConfirmationDetails, WiderRules } from "./model/confirmation.ts";
export type {
  Circumstances,
  Decision,
  Hint,
  Mode,
  NamedChecker,
  Opinion,
  Reason,
  RuleRef,
  Safeguard,
  Scope,
  TraceEntry,
  Verdict,
} from "./model/decision.ts";
export { MODES } from "./model/decision.ts";
export type { EffectOffer, ShownChange, ShownEffect } from "./model/effect-preview.ts";
export { ERROR_TYPES } from "./model/error-types.ts";
export type { Draft, EventBodies, EventType, LedgerEvent, Place, SessionGroup, StoredEvent } from "./model/events.ts";
export { SHARED } from "./model/events.ts";
export type { SessionState } from "./model/fold.ts";
export { emptySession, fold, IllegalEvent } from "./model/fold.ts";
export type { Grant, GrantScope } from "./model/grant.ts";
export { grantRefusal, grantRowAt, nextGrantRow } from "./model/grant-row.ts";
export type { Holder } from "./model/holder.ts";
export type { HookCall, HookResult, HookSession } from "./model/hooks/input.ts";
export { postToolHookInput, toolHookInput } from "./model/hooks/input.ts";
export { canonicalJson } from "./model/json/canonical.ts";
export { isTooDeep } from "./model/json/depth.ts";
export type { Json, JsonObject } from "./model/json/json.ts";
export { isObject } from "./model/json/json.ts";
export type { Kind } from "./model/kind.ts";
export { CONCURRENCY_SAFE_KINDS, KINDS, MUTATOR_KINDS } from "./model/kind.ts";
export {
  callOf,
  contentsOf,
  EVENT_TYPES,
  isAnswerable,
  isAppendable,
  lifecycleCallOf,
  namedSession,
  parseEvent,
  recordsProcess,
  snapshotName,
} from "./model/known-event.ts";
export type { CallRow, ContestedDraft } from "./model/ledger-rules.ts";
export {
  answerRefusal,
  answerSources,
  approvalOf,
  claimLoss,
  isContested,
  nextApprovalRow,
  nextCallRow,
  nextProposalRow,
  nextQuestionRow,
  proposalRefusal,
  questionRefusal,
} from "./model/ledger-rules.ts";
export type { ApprovalDecision, ApprovalSource } from "./model/notification-source.ts";
export { APPROVAL_DECISIONS, APPROVAL_SOURCES } from "./model/notification-source.ts";
export type { Outcome, OutcomeState } from "./model/outcome.ts";
export { OUTCOMES } from "./model/outcome.ts";
export type { CheckerRules, ToolShape } from "./model/pattern/checker.ts";
export { makeChecker, mergeCheckers } from "./model/pattern/checker.ts";
export { PatternError } from "./model/pattern/error.ts";
export type { Glob } from "./model/pattern/glob.ts";
export { compileGlob } from "./model/pattern/glob.ts";
export type { Condition, Pattern, Subject } from "./model/pattern/pattern.ts";
export { matchesPattern, parsePattern } from "./model/pattern/pattern.ts";
export type { FileState, Resolution } from "./model/proposal/events.ts";
export type { ChosenFile, FilePart, ProposalPart } from "./model/proposal/part.ts";
export { readPart } from "./model/proposal/part.ts";
export type { FileEffect, ProposalManifest, ProposalRow, ProposalState } from "./model/proposal/proposal.ts";
export { isOpenProposal } from "./model/proposal/row.ts";
export type { AskedQuestion, Question, QuestionAnswer, QuestionOption } from "./model/question/question.ts";
export type { Containment, Request, Unit } from "./model/request.ts";
export { jsonResult } from "./model/result/normalize.ts";
export type { Content, ContentPart, DiffStat, Display, SpilledOutput, ToolOutput, ToolResult } from "./model/result/result.ts";
export { resultValue } from "./model/result/result.ts";
export { errorCode, messageOf } from "./model/result/thrown.ts";
export type { Coercion } from "./model/schema/coerce.ts";
export { hasCycleInSchema } from "./model/schema/cycle.ts";
export { nextSessionRow, openApprovalDelta, sessionRowAt } from "./model/session-row.ts";
export { fromSnapshot, toSnapshot } from "./model/snapshot.ts";
export type { ScheduleEventBodies, TaskCommand, TaskEventBodies, TaskProcess, TaskStatus, TaskUsage } from "./model/task/events.ts";
export type { ScheduleRow, TaskRow } from "./model/task/row.ts";
export { contentText } from "./model/text/content-text.ts";
export { cutToWidth, displayWidth } from "./model/text/display-width.ts";
export { editDistance } from "./model/text/edit-distance.ts";
export { oneLine, visible } from "./model/text/visible-text.ts";
export type { AssistantPart, Usage } from "./model/turn-events.ts";
export type {
  Approver,
  Clock,
  Digest,
  Facts,
  Files,
  GrantRule,
  HookEvent,
  HookNotice,
  HookOpinion,
  Hooks,
  Ids,
  OpenApproval,
  Policy,
  PolicySource,
  RequestFacts,
  Rules,
  SchemaProblem,
  Schemas,
  Span,
  SpillFile,
  Tracer,
  Validator,
} from "./ports.ts";
export type {
  ConfinedProgram,
  ConfinedStart,
  LeftOver,
  PipedProcess,
  PipedProgram,
  PlanEntry,
  PlanProgram,
  PlanStep,
  ProcessEnd,
  Processes,
  ProcessSpec,
  StepRedirection,
  StepsEnd,
  StepsSpec,
} from "./process-ports.ts";
export type { OpenQuestion, Questioner, QuestionerReply, QuestionTimer } from "./question-port.ts";
export { AnsweredElsewhere, canAsk } from "./question-port.ts";
export type { Registry } from "./registry.ts";
export { createRegistry } from "./registry.ts";
export type { AnswerPorts, AnswerReport, RequestReader } from "./runtime/approval/answer.ts";
export { answerApproval, droppedText, refuseLostAnswer } from "./runtime/approval/answer.ts";
export type { RequestPorts } from "./runtime/approval/requests.ts";
export { createRequestReader } from "./runtime/approval/requests.ts";
export type {
  Batch,
  BatchReport,
  CallReport,
  DecisionNotice,
  DispatchEvent,
  DispatcherDeps,
  ProposedCall,
  ResumedBatch,
  RuntimeHandler,
} from "./runtime/dispatch.ts";
export type { Dispatcher } from "./runtime/dispatcher.ts";
export { createDispatcher } from "./runtime/dispatcher.ts";
export { memoryLedger } from "./runtime/memory-ledger/ledger.ts";
export type { OfferedToolsContext } from "./runtime/offered-tools.ts";
export { listOfferedTools } from "./runtime/offered-tools.ts";
export { patternRules } from "./runtime/policy/pattern-rules.ts";
export { staticPolicy } from "./runtime/policy/source.ts";
export { findPartProblem, reviewPreview } from "./runtime/proposal/effect-part.ts";
export type { PartProblem, ReducedChanges } from "./runtime/proposal/part.ts";
export { reduceChanges } from "./runtime/proposal/part.ts";
export type { ProposalReport, Proposals } from "./runtime/proposal/proposals.ts";
export { queueResolveHandler } from "./runtime/proposal/proposals.ts";
export type { ResolveHandler } from "./runtime/proposal/push-action.ts";
export type {
  FallbackContext,
  FallbackQuestion,
  FallbackResult,
  ResolveFallback,
  ResolveWords,
} from "./runtime/proposal/resolve.ts";
export type { FileReview, ReviewedHunk, ReviewNaming } from "./runtime/proposal/review.ts";
export { reviewChanges, reviewProposal } from "./runtime/proposal/review.ts";
export type { StoredProposal } from "./runtime/proposal/stored.ts";
export { readStoredProposal } from "./runtime/proposal/stored.ts";
export type { QuestionPorts, QuestionReply, QuestionReport } from "./runtime/question/answer.ts";
export { answerQuestion, readWholeQuestion } from "./runtime/question/answer.ts";
export type { CallRecord } from "./runtime/session/call-record.ts";
export { readCallRecord } from "./runtime/session/call-record.ts";
export type { CancelRequest } from "./runtime/session/cancel-requests.ts";
export { followCancelRequests } from "./runtime/session/cancel-requests.ts";
export { listRows, readRow, readRows } from "./runtime/session/list-rows.ts";
export type { NewSession, Session, SessionOptions, SessionPorts } from "./runtime/session/session.ts";
export { openSession, readSessionState } from "./runtime/session/session.ts";
export type { InferOutput, StandardIssue, StandardResult, StandardSchema } from "./standard-schema.ts";
export { defineTool, isTool } from "./tool.ts";
export type {
  Annotations,
  AppliedPreview,
  CallContext,
  EffectPreview,
  EffectPreviewer,
  Invocation,
  JsonSchema,
  Location,
  Maybe,
  PathChange,
  PathContent,
  PathUse,
  PendingAction,
  PlannedChange,
  Preview,
  ProbeAnswer,
  QueuedAction,
  RecoveryContext,
  ResolveCallback,
  ResolveContext,
  RunContext,
  Tool,
  ToolDefinition,
  ToolOpinion,
} from "./tool-definition.ts";

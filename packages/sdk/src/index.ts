export type {
  AnsweredBy,
  AnswerReport,
  AppliedChoice,
  Approval,
  ProposalPart,
  Question,
  QuestionAnswer,
  QuestionRequest,
  RuleRef,
  Suggestion,
  ToolAnswer,
  ToolRequest,
} from "./approval.ts";
export type { JsonObject } from "./json.ts";
export {
  createSdkMcpServer,
  type SdkMcpServer,
  type SdkTool,
  type SdkToolResult,
  type SdkToolSchema,
  tool,
} from "./mcp-server.ts";
export type {
  AssistantLine,
  Block,
  Denial,
  Message,
  Mode,
  OnAsk,
  ResultLine,
  StreamDelta,
  StreamEvent,
  StreamLine,
  SystemBodies,
  SystemLine,
  Usage,
  UserLine,
  UserMessage,
} from "./message.ts";
export type { Status } from "./query.ts";
export { type ApprovalAnswer, type ApprovalRef, type Query, query } from "./query.ts";
export type { CallbackOptions, HookCallback, HookOption, QueryOptions } from "./query-options.ts";
export { type Exit, SdkError, type SdkErrorType } from "./sdk-error.ts";

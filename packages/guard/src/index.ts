export { AGENT_NAMES, AGENTS, type AgentName, type GuardedAgent } from "./agents.ts";
export { type CallOutcome, type ForeignCall, type GuardEvent, GuardInputError, type GuardVerdict, type HookOutput } from "./guard-event.ts";
export { lookOnly, type OutsideRun, outsideTool, unknownOutsideTool } from "./outside-tools.ts";
export { type CallKey, callKey, idsWithPrefix } from "./session-ids.ts";
export { MAPPED_TOOLS, type OutsideCall, translateCall } from "./tool-names.ts";

export { type AgentRun, agentRun, shellCall } from "./agent-run.ts";
export { AGENT_NAMES, AGENTS, type AgentName, type GuardedAgent } from "./agents.ts";
export { type ClaudeSurroundings, claudeSurelyAsks } from "./claude-dialog.ts";
export type { PlannedSubagent, PlannedTurn } from "./fake-model/plan.ts";
export { type FakeModel, startFakeModel } from "./fake-model/server.ts";
export { type CallOutcome, type ForeignCall, type GuardEvent, GuardInputError, type GuardVerdict, type HookOutput } from "./guard-event.ts";
export {
  type AgentFile,
  type AgentHome,
  agentFiles,
  type InstallScope,
} from "./install/agent-files.ts";
export { AgentConfigError, readConfig, WRAPPER_NAME } from "./install/hook-config.ts";
export type { ProjectPlace, ProjectReader } from "./install/project-hooks.ts";
export { startedCode } from "./install/started-code.ts";
export { switchedOff } from "./install/switched-off.ts";
export { type HookSetup, type WrapperCommand, wrapperScript } from "./install/wrapper.ts";
export {
  clientFile,
  type GuardedConfig,
  type GuardedServer,
  guardServers,
  releaseServers,
} from "./mcp-install/client-config.ts";
export { GATEWAY_NAME, type GatewaySetup, gatewayScript, type ServerTarget } from "./mcp-install/gateway-command.ts";
export { createJudgeOnlyRun, type OutsideRun, outsideTool, type UnknownCall, unknownOutsideTool } from "./outside-tools.ts";
export { type CallKey, callKey, idsWithPrefix } from "./session-ids.ts";
export { FOR_PERSON, MAPPED_TOOLS, type OutsideCall, translateCall } from "./tool-names.ts";

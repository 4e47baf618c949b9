export { type Explanation, explain } from "./explain.ts";
export { createPolicyFacts, type FactOptions } from "./facts/facts.ts";
export type { HookCondition, HookFacts } from "./hooks/condition.ts";
export { type HookOptions, type LoadedHooks, readHooks } from "./hooks/read.ts";
export { refersToWorkspace, UNTRUSTED_HOOK_REASON } from "./hooks/workspace-program.ts";
export { createPathLookup, type DirectoryAnchor, type PathFact, type PathLookup, type SessionDirectories } from "./paths/lookup.ts";
export { isInside, type ResolvedPath, resolvePath } from "./paths/resolve.ts";
export { isSensitive } from "./paths/sensitive.ts";
export { findWorkspace, WorkspaceNotFoundError } from "./paths/workspace.ts";
export {
  type ControlSearch,
  findNewControls,
  findWorkspaceControls,
  listReadOnlyControls,
  type WorkspaceControls,
} from "./paths/workspace-controls.ts";
export { createLineRedactor, createRedactor, createValueRedactor, PLACEHOLDER_START } from "./redaction.ts";
export { isServerName, normalizeServerName } from "./rules/mcp-name.ts";
export type { Rule, RuleOptions, RuleTools } from "./rules/rule.ts";
export type { OwnFiles } from "./safeguards/own-files.ts";
export { type AuditDestination, isSafeAddress } from "./settings/audit-destination.ts";
export { FileLockedError } from "./settings/file-lock.ts";
export { createDenyAllPolicy, type LoadedPolicy, loadSettings, readUserSettings } from "./settings/load-policy.ts";
export { type PolicyLocations, projectSettingsFile, type SessionFlags, settingsLocations } from "./settings/locations.ts";
export {
  type McpFile,
  type McpServer,
  type McpServers,
  type McpServerTransport,
  readMcpFile,
  readMcpText,
} from "./settings/mcp-servers.ts";
export type { NotifyReceiver, NotifyReceivers } from "./settings/notify-receivers.ts";
export { formatProblem, SettingsError, type SettingsProblem, sortProblems } from "./settings/problem.ts";
export { type PromotedRule, type PromotionOptions, promoteRule, storeSetting } from "./settings/promote-rule.ts";
export { CLIENT_NAMES } from "./settings/rule-entry.ts";
export { diffRules, type RulesDiff } from "./settings/rules-diff.ts";
export type { Settings } from "./settings/settings.ts";
export type { WatchedPolicy } from "./settings/watched-policy.ts";
export {
  type FoundProgram,
  findProgram,
  type ProgramPlaces,
  programDirectories,
  programPlaces,
  sameProgram,
} from "./shell/plan/find-program.ts";
export type { Hazard, JudgedCommand, Plan } from "./shell/plan/plan.ts";
export { markPlannedLine, type PlannedCommand, type PlannedLine, readPlannedLine } from "./shell/plan/planned-line.ts";
export type { OutsideShell } from "./shell/plan/read-commands.ts";
export { listActivations } from "./trust/activations.ts";
export { findNestedInstructions, INSTRUCTION_NAMES, isNestedWorkspace } from "./trust/nested-instructions.ts";
export { type ProjectConfiguration, readProjectConfiguration } from "./trust/project-configuration.ts";
export {
  type ConfigurationChange,
  createTrustGranted,
  createTrustRevoked,
  describeUntrusted,
  diffConfiguration,
  isTrusted,
  isTrustedFile,
  readTrustState,
  type TrustRecord,
  type TrustState,
} from "./trust/trust.ts";
export { createWorkspacePolicy, type WorkspacePolicy, type WorkspacePolicyOptions } from "./workspace-policy.ts";

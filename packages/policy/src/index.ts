export { type Explanation, explain } from "./explain.ts";
export { type FactPlaces, policyFacts } from "./facts/facts.ts";
export type { HookFacts, HookRule } from "./hooks/condition.ts";
export { type HookParts, type ReadHooks, readHooks } from "./hooks/read.ts";
export { leadsIntoWorkspace, UNTRUSTED_PROGRAM } from "./hooks/workspace-program.ts";
export { isInside, type ResolvedPath, resolvePath } from "./paths/resolve.ts";
export { type Anchor, type PathFact, type PathScope, pathScope, type SessionDirectories } from "./paths/scope.ts";
export { isSensitive } from "./paths/sensitive.ts";
export { findWorkspace, WorkspaceNotFoundError } from "./paths/workspace.ts";
export { redactor } from "./redaction.ts";
export { type OfferOptions, widerRule } from "./rules/grants.ts";
export type { Rule, RuleOptions, RuleTools } from "./rules/rule.ts";
export type { OwnFiles } from "./safeguards/own-files.ts";
export { FileLockedError } from "./settings/file-lock.ts";
export { failedPolicy, type LoadedPolicy, loadSettings } from "./settings/load-policy.ts";
export { type PolicyPlaces, projectFile, type SessionFlags, settingsPlaces } from "./settings/policy-places.ts";
export type { WatchedPolicy } from "./settings/policy-source.ts";
export { type Problem, problemText, SettingsError } from "./settings/problem.ts";
export { type Promoted, promoteRule } from "./settings/promote-rule.ts";
export { diffRules, type RulesDiff } from "./settings/rules-diff.ts";
export type { Settings } from "./settings/settings.ts";
export {
  type FoundProgram,
  findProgram,
  PROGRAM_PATH,
  type ProgramPlaces,
  programDirectories,
  sameProgram,
} from "./shell/plan/find-program.ts";
export type { Hazard, JudgedCommand, Plan } from "./shell/plan/plan.ts";
export { type PlannedCommand, type PlannedLine, plannedLine, planOf } from "./shell/plan/planned-line.ts";
export { INSTRUCTION_NAMES, isOwnWorkspace, nestedInstructions } from "./trust/nested-instructions.ts";
export { type ProjectConfiguration, projectConfiguration } from "./trust/project-configuration.ts";
export {
  type ConfigurationChange,
  changesSince,
  granting,
  isTrusted,
  isTrustedFile,
  revoking,
  type TrustRecord,
  type TrustState,
  trustState,
  untrustedWarning,
} from "./trust/trust.ts";
export { wouldActivate } from "./trust/would-activate.ts";
export { type WorkspaceParts, type WorkspacePolicy, workspacePolicy } from "./workspace-policy.ts";

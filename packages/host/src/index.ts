export { type AnsiScreen, makeAnsiScreen } from "./ansi-screen.ts";
export { type EditedText, type EditorEnd, type EditTextOptions, editText } from "./editor/edit-text.ts";
export { createHostFileChanges } from "./files/changes/changes.ts";
export { createHostFiles, sessionOutputDirectory } from "./files/files.ts";
export { openRegular, type RegularFile } from "./files/open.ts";
export { createHostPlanFiles, findPlanFile } from "./files/plan-files.ts";
export type { SpillLimits } from "./files/spill.ts";
export { type GitRun, hardenGit } from "./git/hardened-git.ts";
export {
  createFunctionHooks,
  type FunctionHook,
  type FunctionHooks,
  type FunctionHooksOptions,
  readFunctionHooks,
} from "./hooks/function-hooks.ts";
export { createHookRunner, type HookRunner, type HookRunnerOptions } from "./hooks/runner.ts";
export { createHostPorts, type HostPorts } from "./host-ports.ts";
export { httpFetch } from "./http/fetch.ts";
export { type ConfinedView, createEffectRunner, type EffectRun, type EffectRunner, type RunOnView } from "./preview/effect-runner.ts";
export { findProgram } from "./processes/find-program.ts";
export { killRunningGroups } from "./processes/group.ts";
export { hasMark, isStartedUnder, listAncestors } from "./processes/lineage.ts";
export { createHostProcesses, type ProcessSettings } from "./processes/processes.ts";
export { type ProcessRow, processStart } from "./processes/table.ts";
export { type Confinement, confineProgram, PRIVATE_HOME, type SandboxProgram } from "./sandbox/confine-program.ts";
export { createPrivateDirectory } from "./sandbox/private-directory.ts";
export { probeSandbox, type SandboxProbe, type SandboxProbeOptions } from "./sandbox/probe.ts";
export { type AbandonedNote, listAbandonedNotes, noteRunning, type RunningNote, setAside } from "./sandbox/set-aside.ts";
export { listHomeSecrets, listVisibleRoots, type MaskedPath, type VisibleRoot } from "./sandbox/visible-roots.ts";
export { ajvSchemas } from "./schema/ajv-schemas.ts";
export { createSystemClock } from "./system/clock.ts";
export { nodeDigest } from "./system/digest.ts";
export { createCommandEnvironment, type ScrubOptions, type SecretNames, scrubEnvironment } from "./system/environment.ts";
export { currentHolder, currentUser } from "./system/identity.ts";
export { createRandomIds } from "./system/ids.ts";

import type { Clock, Digest, Facts, Registry, RequestFacts, Rules } from "@assent/core";
import type { HookEntry, HookSubject } from "@assent/core/parts";
import { describeContainment, type SandboxTest } from "./facts/containment.ts";
import { createPolicyFacts } from "./facts/facts.ts";
import { compileHookCondition, type HookCondition } from "./hooks/condition.ts";
import { readHooks } from "./hooks/read.ts";
import type { PathTest } from "./paths/control-files.ts";
import { createLivePathLookup, type PathLookup, type SessionDirectories } from "./paths/lookup.ts";
import { createExampleTrial } from "./rules/examples.ts";
import { isFault } from "./rules/fault.ts";
import { createGrantRules } from "./rules/grants.ts";
import { createPathTest } from "./rules/path.ts";
import type { RuleRoots } from "./rules/rule.ts";
import { createRuleTools } from "./rules/tool-groups.ts";
import { createPrivateHostTest, createReadDenyTest } from "./rules/tool-rules.ts";
import { isInStateDirectory, type OwnFiles } from "./safeguards/own-files.ts";
import { createSafeguards } from "./safeguards/safeguards.ts";
import { type LoadedPolicy, loadPolicy, type PolicyOptions } from "./settings/load-policy.ts";
import type { PolicyLocations } from "./settings/locations.ts";
import type { SettingsProblem } from "./settings/problem.ts";
import type { Settings } from "./settings/settings.ts";
import { type WatchedPolicy, watchPolicy } from "./settings/watched-policy.ts";
import { rememberPackageScripts } from "./shell/effects/package-scripts.ts";
import type { OutsideShell } from "./shell/plan/read-commands.ts";

/** What tools ask the rules while they run. */
export type ToolRules = {
  readonly privateAllowed: (url: string) => boolean;
  /** True if a deny covers reading this file, or it is in the state directory. */
  readonly hides: (path: string) => boolean;
};

/** Options of a workspace policy. */
export type WorkspacePolicyOptions = {
  readonly places: PolicyLocations;
  /** Ledger, trust and outputs. */
  readonly stateDirectory: string;
  /** The ledger on PostgreSQL, if it is there. */
  readonly storeUrl?: string | undefined;
  /** Output directories that may be read without asking. */
  readonly readable?: () => readonly string[];
  readonly planFile?: () => string | undefined;
  readonly digest: Digest;
  /** Creates the tools; settings are available only once they are used. */
  readonly tools: (look: PathLookup, settings: () => Settings, rules: ToolRules) => Registry;
  /** Assent's commands; tools may run those that only look. */
  readonly commands?: OwnFiles["commands"];
  readonly hookFunctions?: readonly string[];
  /** Tells whether commands can be confined here. Absent: they cannot. */
  readonly probeSandbox?: SandboxTest;
  /** The `PATH` in which people start Assent: where programs are looked up after the system's directories. */
  readonly userPath?: string | undefined;
  /** Another program runs the calls: a command is proven to only read, or allowed by a rule, only if a shell would run exactly what was judged. */
  readonly outside?: OutsideShell;
  /** Who makes the calls; Assent itself by default. */
  readonly client?: string;
  /** Follow the files; absent: read once. */
  readonly follow?: {
    readonly clock: Clock;
    readonly warn: (problem: SettingsProblem) => void;
    readonly changed: (loaded: LoadedPolicy) => void;
    readonly trusted?: () => boolean;
  };
};

/** Everything that judges calls in a workspace. */
export type WorkspacePolicy = {
  readonly source: WatchedPolicy;
  readonly tools: Registry;
  readonly facts: Facts;
  /** Remembered answers. */
  readonly rules: Rules;
  /** Current hooks in running order. */
  readonly hooks: () => readonly HookEntry[];
};

/** Reads a workspace's settings and builds everything that judges in it. Throws `SettingsError` if a problem refuses. */
export function createWorkspacePolicy(parts: WorkspacePolicyOptions): WorkspacePolicy {
  const { places, digest, follow } = parts;
  const { workspace, home } = places;
  const live: { source?: WatchedPolicy } = {};
  const settings = (): Settings => {
    if (!live.source) throw new Error("Settings are not loaded yet");
    return live.source.settings();
  };
  const look = createLivePathLookup(createDirectories(parts, () => live.source?.settings()));
  const asked = { rules: () => live.source?.loaded().rules ?? [], facts: (request: Parameters<Facts>[0]) => facts(request), workspace };
  const [isOwn, isDenied] = [isInStateDirectory(parts.stateDirectory), createReadDenyTest(asked)];
  const hides = (path: string): boolean => isOwn(path) || isDenied(path);
  const registry = parts.tools(look, settings, { privateAllowed: createPrivateHostTest(asked), hides });
  const tools = createRuleTools(registry);
  const scripts = rememberPackageScripts(workspace);
  const described = createPolicyFacts({
    ...{ workspace, home, look, scripts, userPath: parts.userPath },
    programPath: () => settings()["shell.path"],
    secretNames: () => settings()["permissions.sensitive"],
    ...(parts.outside && { outside: parts.outside }),
  });
  const facts = describeContainment(described, {
    ...{ workspace, home, settings, network: () => live.source?.loaded().network ?? [] },
    ...(parts.probeSandbox && { probe: parts.probeSandbox }),
  });
  const options = { tools, roots: { settingsRoot: workspace, workspace, home } };
  const compileRule = (text: string): HookCondition =>
    compileHookCondition(text, options, (subject) => describeHookSubject(subject, registry, facts));
  const policyParts: PolicyOptions = {
    tools,
    digest,
    scripts,
    ...(parts.client && { client: parts.client }),
    examples: createExampleTrial(tools, (name) => registry.get(name)?.kind),
    hooks: (layer) => readHooks(layer, { functions: parts.hookFunctions ?? [], compileRule, tools: tools.names }),
    safeguards: (loaded) => createSafeguards({ own: describeOwnFiles(parts, loaded.settings), rules: loaded.rules }),
  };
  const source = follow ? watchPolicy(places, policyParts, follow) : createFixedSource(loadPolicy(places, policyParts));
  live.source = source;
  const rules = createGrantRules({ ...options, allowed: (request, unit) => isAllowed(source, request, unit) });
  return { source, tools: registry, facts, rules, hooks: () => source.loaded().hookEntries };
}

/** Describes a call before it is judged; invalid input has no locations. */
async function describeHookSubject({ tool: name, input, cwd }: HookSubject, registry: Registry, facts: Facts): Promise<RequestFacts> {
  const tool = registry.get(name);
  const invocation = await tool?.build(input, { cwd, callId: "", sessionId: "" });
  return facts({ tool: name, kind: tool?.kind ?? "other", input, cwd, locations: invocation?.locations() });
}

type AllowCheck = (source: WatchedPolicy, ...about: Parameters<LoadedPolicy["policy"]["checkers"][number]["check"]>) => boolean;

const isAllowed: AllowCheck = (source, request, unit) => {
  const { checkers, honourReadOnlyHint } = source.current();
  return (honourReadOnlyHint && unit.readOnly === true) || checkers.some(({ check }) => check(request, unit).verdict === "allow");
};

function createFixedSource(loaded: LoadedPolicy): WatchedPolicy {
  return {
    current: () => loaded.policy,
    subscribe: () => () => undefined,
    settings: () => loaded.settings,
    loaded: () => loaded,
    refresh: () => undefined,
    compile: () => undefined,
    close: () => undefined,
  };
}

function createDirectories(
  { places, planFile, readable = NO_OUTPUT, outside }: WorkspacePolicyOptions,
  settings: () => Settings | undefined,
): () => SessionDirectories {
  const { workspace, home } = places;
  let known: { readonly of: readonly unknown[]; readonly directories: SessionDirectories } | undefined;
  return () => {
    const now = settings();
    const outputs = readable();
    if (known?.of[0] === now && known?.of[1] === outputs) return known.directories;
    const directories = {
      workspace,
      home,
      readable: outputs,
      ...(planFile && { planFile }),
      ...(now && directoriesFromSettings(now, { places, outside })),
    };
    known = { of: [now, outputs], directories };
    return directories;
  };
}

const NO_OUTPUT = (): readonly string[] => NOTHING;
const NOTHING: readonly string[] = [];

type SettingsDirectories = Pick<SessionDirectories, "additionalDirectories" | "protect" | "sensitive">;

type PlacesAndShell = Pick<WorkspacePolicyOptions, "places"> & { readonly outside: OutsideShell | undefined };

function directoriesFromSettings(settings: Settings, { places, outside }: PlacesAndShell): SettingsDirectories {
  const { additionalDirectories } = settings;
  const roots = { settingsRoot: places.workspace, workspace: places.workspace, home: places.home, additionalDirectories };
  return {
    additionalDirectories,
    protect: [...compilePathTests(settings["permissions.protect"], roots), ...(outside === undefined ? [] : [isEnvironmentFile])],
    sensitive: compilePathTests(settings["permissions.sensitive"], roots),
  };
}

/** Some agents read it and then call no hook. */
const isEnvironmentFile: PathTest = (folded) => folded.endsWith("/.env");

function describeOwnFiles({ places, stateDirectory, storeUrl, commands, outside }: WorkspacePolicyOptions, settings: Settings): OwnFiles {
  const { workspace, home, userFile, teamFile, policyFile } = places;
  const settingsFiles = [userFile, teamFile, ...(policyFile === undefined ? [] : [policyFile])];
  const { protect = [] } = directoriesFromSettings(settings, { places, outside });
  return {
    ...{ stateDirectory, settingsFiles, workspace, home, protect, outside: outside !== undefined },
    ...(commands && { commands }),
    ...(storeUrl !== undefined && { storeUrl }),
  };
}

/** An unreadable glob refuses the start; if one slips through, it protects everything. */
function compilePathTests(globs: readonly string[], roots: RuleRoots): readonly PathTest[] {
  return globs.map((glob) => {
    const test = createPathTest(glob, roots);
    return isFault(test) ? () => true : test;
  });
}

import { canonicalJson, type Digest, type NamedChecker, type Policy, type Safeguard } from "@assent/core";
import type { HookEntry } from "@assent/core/parts";
import type { LoadedHooks } from "../hooks/read.ts";
import { canonicalRules, createRuleChecker } from "../rules/checker.ts";
import type { ExampleTrial } from "../rules/examples.ts";
import { isFault } from "../rules/fault.ts";
import { createPathTest } from "../rules/path.ts";
import type { Rule, RuleOptions, RuleTools } from "../rules/rule.ts";
import { type CompiledRules, compileRules } from "./compile-rules.ts";
import { effectiveSettings, type Layer, sessionLayer } from "./layers.ts";
import { type LayerSource, listLayerSources, type PolicyLocations, settingsLocations } from "./locations.ts";
import { problemEffect, SettingsError, type SettingsProblem, sortProblems } from "./problem.ts";
import { type FileFault, type FileReading, readSettingsFile } from "./read-file.ts";
import { type LayerHooks, readSettings, type WrittenSettings } from "./read-settings.ts";
import type { Settings } from "./settings.ts";

/** Required owners of settings files. */
type FileOwners = {
  /** Defaults to the current user. */
  readonly uid?: number;
  /** Defaults to root. */
  readonly teamUid?: number;
};

export type PolicyOptions = FileOwners & {
  readonly tools: RuleTools;
  /** Who makes the calls; Assent itself by default. */
  readonly client?: string;
  readonly digest: Digest;
  readonly safeguards: (loaded: { readonly rules: readonly Rule[]; readonly settings: Settings }) => readonly Safeguard[];
  readonly examples: ExampleTrial;
  /** Scripts that package commands ran at load time. */
  readonly scripts?: RuleOptions["scripts"];
  /** Reads a layer's hooks. */
  readonly hooks?: (layer: LayerHooks) => LoadedHooks;
};

/** A policy and what it came from. */
export type LoadedPolicy = {
  readonly policy: Policy;
  readonly settings: Settings;
  /** Session, project, user, team. */
  readonly rules: readonly Rule[];
  readonly stage: readonly Rule[];
  /** Commands that have network while they are confined. */
  readonly network: readonly Rule[];
  readonly problems: readonly SettingsProblem[];
  /** In running order: team, user, project. */
  readonly hooks: readonly LayerHooks[];
  readonly hookEntries: readonly HookEntry[];
};

/** Loads one policy from all layers. Throws `SettingsError` with all problems if one refuses. */
export function loadPolicy(places: PolicyLocations, parts: PolicyOptions): LoadedPolicy {
  const { loaded, problems } = assemblePolicy(readLayers(places, parts), places, parts);
  if (problems.some(({ effect }) => effect === "refuse")) throw new SettingsError(problems);
  return loaded;
}

/** Loads only the values, before tools exist. Problems are left to `loadPolicy`. */
export function loadSettings(places: PolicyLocations, owners: FileOwners = {}): Settings {
  return effectiveSettings(layersOf(readLayers(places, owners), places), places).settings;
}

/** The settings of the user and the team alone. Throws `SettingsError` if they cannot be used. */
export function readUserSettings(env: Readonly<Record<string, string | undefined>>, owners: FileOwners = {}): Settings {
  const locations = settingsLocations(env);
  const places: PolicyLocations = { ...locations, workspace: locations.home, session: { allow: [], ask: [], deny: [] }, trusted: false };
  const layers = readLayers(places, owners).filter(({ source }) => source.scope !== "project");
  const problems = layers.flatMap(({ written }) => written.problems);
  if (problems.some(({ effect }) => effect === "refuse")) throw new SettingsError(problems);
  return effectiveSettings(layersOf(layers, places), places).settings;
}

function readLayers(places: PolicyLocations, owners: FileOwners): readonly FileLayer[] {
  return listSettingsFiles(places, owners).map((source) => ({
    source,
    written: interpretFile(source, readSettingsFile(source.file, source.owner)),
  }));
}

export function listSettingsFiles(places: PolicyLocations, { uid = process.getuid?.(), teamUid = 0 }: FileOwners): readonly LayerSource[] {
  return listLayerSources(places, { user: uid, team: teamUid });
}

export function interpretFile({ file, required }: LayerSource, reading: FileReading): WrittenSettings {
  if ("text" in reading) return readSettings(file, reading.text);
  if ("absent" in reading && !required) return EMPTY_SETTINGS;
  const { place, ...words } = "fault" in reading ? reading.fault : missingFile(file);
  return { ...EMPTY_SETTINGS, problems: [{ file, key: "", ...place, ...words, effect: problemEffect(words.type, false) }] };
}

function missingFile(file: string): FileFault {
  const message = `${file} does not exist.`;
  return { type: "settings_unreadable", message, hint: "Check the path.", place: { line: 1, column: 1 } };
}

const EMPTY_SETTINGS: WrittenSettings = { values: new Map(), rules: [], problems: [] };

export type FileLayer = { readonly source: LayerSource; readonly written: WrittenSettings };

/** Builds a policy from files and flags. The caller handles refusing problems. */
export function assemblePolicy(
  files: readonly FileLayer[],
  places: PolicyLocations,
  parts: PolicyOptions,
): { readonly loaded: LoadedPolicy; readonly problems: readonly SettingsProblem[] } {
  const layers = layersOf(files, places);
  const { settings, problems } = effectiveSettings(layers, places);
  const { workspace, home } = places;
  const roots = { workspace, home, additionalDirectories: settings.additionalDirectories };
  const { tools, examples, scripts, digest, client = "assent" } = parts;
  const hooks = hooksOf(layers);
  const read = hooks.flatMap((layer) => parts.hooks?.(layer) ?? []);
  const hookEntries = read.flatMap(({ entries }) => entries);
  const mayStage = ({ trusted }: Layer): boolean => trusted || !stagingLoosens(settings, hookEntries);
  const compiled = layers.map((layer): CompiledLayer & Pick<CompiledRules, "problems"> => {
    const all = compileRules(layer, { tools, examples, roots, client, ...(scripts && { scripts }) });
    return mayStage(layer) ? { layer, ...all } : { layer, ...all, stage: [], problems: [...all.problems, ...stageProblems(layer)] };
  });
  const all = sortProblems([
    ...layers.flatMap((layer) => layer.written.problems),
    ...problems,
    ...compiled.flatMap((layer) => layer.problems),
    ...layers.flatMap((layer) => globProblems(layer, { ...roots, settingsRoot: layer.root })),
    ...read.flatMap((layer) => layer.problems),
  ]);
  const rules = compiled.flatMap((layer) => layer.rules);
  const stage = compiled.flatMap((layer) => layer.stage);
  const version = versionsText(layers);
  let revision: string | undefined; // computed when a call is judged: loading the digest takes longer than all rules
  const policy: Policy = {
    get revision() {
      revision ??= digest.sha256(revisionText(compiled, settings, version));
      return revision;
    },
    ...(version !== "" && { version }),
    mode: settings.mode,
    checkers: checkersOf(compiled),
    safeguards: parts.safeguards({ rules, settings }),
    honourReadOnlyHint: settings["permissions.readOnlyHint"] === "allow",
    proposals: { resolver: settings["proposals.resolver"], stages: createStageTest(stage) },
    ...(settings.allowConfined && { allowConfined: true }),
    effectPreview: settings.preview,
  };
  const loaded: LoadedPolicy = {
    policy,
    settings,
    rules,
    stage,
    network: compiled.flatMap((layer) => layer.network),
    problems: all.filter(({ effect }) => effect === "warning"),
    hooks,
    hookEntries,
  };
  return { loaded, problems: all };
}

/** A request is staged if any rule applies to any part, in doubt too. */
function createStageTest(stage: readonly Rule[]): NonNullable<Policy["proposals"]>["stages"] {
  if (stage.length === 0) return () => false;
  const { check } = createRuleChecker({ label: "proposals.stage", scope: "policy", rules: stage });
  return (request) => request.units.some((unit) => check(request, unit).verdict !== "none");
}

/** True if staging lets an untrusted project bypass a person or a hook: staging itself does not ask, and applying is another call. */
function stagingLoosens(settings: Settings, hooks: readonly HookEntry[]): boolean {
  return (
    settings["proposals.resolver"] === "model" || hooks.some(({ event }) => event === "pre_tool_use" || event === "permission_request")
  );
}

function stageProblems({ file, written }: Layer): readonly SettingsProblem[] {
  const first = written.rules.find(({ list }) => list === "proposals.stage");
  if (!first) return [];
  const message = "proposals.stage of an untrusted project is ignored if hooks check calls or the model applies proposals itself";
  const hint = "To trust the workspace, run: assent trust";
  return [{ type: "rule_project_untrusted", file, ...first.at, key: first.key, message, hint, effect: "warning" }];
}

type CompiledLayer = Pick<CompiledRules, "rules" | "stage" | "network"> & { readonly layer: Layer };

function checkersOf(compiled: readonly CompiledLayer[]): readonly NamedChecker[] {
  return compiled
    .filter(({ rules }) => rules.length > 0)
    .map(({ layer: { label, scope }, rules }) => createRuleChecker({ label, scope, rules }));
}

function layersOf(files: readonly FileLayer[], places: PolicyLocations): readonly Layer[] {
  return [sessionLayer(places), ...files.map(({ source, written }) => toLayer(source, written, places))];
}

function toLayer({ scope, label, file, root }: LayerSource, written: WrittenSettings, { trusted }: PolicyLocations): Layer {
  return { scope, label, file, root, trusted: scope !== "project" || trusted, written };
}

function hooksOf(layers: readonly Layer[]): readonly LayerHooks[] {
  return layers
    .toReversed()
    .flatMap(({ scope, file, trusted, written: { hooks } }) => (hooks && trusted ? [{ ...hooks.value, scope, file }] : []));
}

/** A glob that cannot be read must not seem to protect. */
function globProblems({ file, written }: Layer, roots: RuleOptions["roots"]): readonly SettingsProblem[] {
  return (["permissions.protect", "permissions.sensitive"] as const).flatMap((key) => {
    const found = written.values.get(key);
    if (!found || !Array.isArray(found.value)) return [];
    return found.value.flatMap((glob, index): SettingsProblem[] => {
      const read = createPathTest(String(glob), roots);
      if (!isFault(read)) return [];
      const { type, message, hint } = read;
      const at = found.itemAt?.(index) ?? found.at;
      return [{ type, file, ...at, key: `${key}[${index}]`, message: `${String(glob)}: ${message}`, hint, effect: "refuse" }];
    });
  });
}

/** The versions that files name, the team's first. An untrusted project's does not count. */
function versionsText(layers: readonly Layer[]): string {
  const named = layers.toReversed().flatMap(({ scope, trusted, written }) => {
    const version: unknown = written.values.get("policyVersion")?.value;
    return trusted && typeof version === "string" ? [`${scope} ${version}`] : [];
  });
  return named.join(", ");
}

/** Everything judging depends on that a file can change. */
function revisionText(compiled: readonly CompiledLayer[], settings: Settings, version: string): string {
  return canonicalJson({
    ...(version !== "" && { version }),
    rules: compiled.map(({ layer: { scope }, rules }) => [scope, canonicalRules(rules)]),
    stage: compiled.map(({ stage }) => canonicalRules(stage)),
    resolver: settings["proposals.resolver"],
    mode: settings.mode,
    readOnlyHint: settings["permissions.readOnlyHint"],
    protect: settings["permissions.protect"],
    sensitive: settings["permissions.sensitive"],
    additionalDirectories: settings.additionalDirectories,
    mcpTrusted: settings["mcp.trusted"],
    ...(settings.sandbox !== "off" && {
      containment: [settings.sandbox, settings.allowConfined, settings["confined.writable"]],
      network: compiled.map(({ network }) => canonicalRules(network)),
    }),
  });
}

/** Creates a policy that denies every call, for programs that continue after problems. */
export function createDenyAllPolicy(problems: readonly SettingsProblem[]): Policy {
  const text = problems.find(({ effect }) => effect === "refuse")?.message;
  const rule = text === undefined ? {} : { rule: { text, source: FAILED_LABEL } };
  return {
    revision: "failed",
    mode: "default",
    checkers: [{ label: FAILED_LABEL, scope: "policy", check: () => ({ verdict: "deny", ...rule }) }],
    safeguards: [],
    honourReadOnlyHint: false,
  };
}

const FAILED_LABEL = "policy (failed to load)";

import { join } from "node:path";
import { isObject, type Scope } from "@assent/core";
import { escapeGlob } from "../rules/path-glob.ts";
import type { PolicyLocations, SessionFlags } from "./locations.ts";
import { receiverSecrets } from "./notify-receivers.ts";
import { problemEffect, type SettingsProblem } from "./problem.ts";
import type { RuleEntry, WrittenSettings, WrittenValue } from "./read-settings.ts";
import { secretPlaces } from "./secret-source.ts";
import { type RuleKey, SETTINGS, type SettingKey, type Settings, type ValueRow } from "./settings.ts";

/** What one file, or the flags, say. */
export type Layer = {
  readonly scope: Scope;
  readonly label: string;
  readonly file: string;
  /** Where `/x` starts. */
  readonly root: string;
  /** False for an untrusted project, which can only tighten. */
  readonly trusted: boolean;
  readonly written: WrittenSettings;
};

export type EffectiveSettings = { readonly settings: Settings; readonly problems: readonly SettingsProblem[] };

/**
 * Effective values of the layers session, project, user and team, in this order.
 *
 * 1. Lists are joined over the layers.
 * 2. Named entries are merged over the layers; the team's entry wins over the user's, and the user's over the project's.
 * 3. A single value comes from the first layer that has it, without an untrusted project.
 * 4. An untrusted project's value counts only if it is stricter, and never over a flag.
 * 5. The project's `secretEnv` is kept apart: it must not hide variables from hooks of other layers.
 * 6. A personal key is loosened only by the user and the team, and the strictest of their values counts.
 * 7. A mode that the team locked refuses to start; callers that continue get mode `default`.
 */
export function effectiveSettings(layers: readonly Layer[], places: PolicyLocations): EffectiveSettings {
  const ignored: IgnoredValue[] = [];
  const entries = VALUE_KEYS.map((key): [string, unknown] => {
    const row: ValueRow = SETTINGS[key];
    return [key, MERGED[row.merge](layers, key, ignored)];
  });
  const values = Object.fromEntries([...entries, ...joinSecretNames(layers)]) as Settings; // the table's type names exactly these keys and values
  const settings = anchorPaths(values, layers, places);
  const locked = findLockedMode(layers, settings);
  const problems = [...findMisplacedLocks(layers), ...ignoredWarnings(layers, ignored), ...(locked ? [locked] : [])];
  return { settings: locked ? { ...settings, mode: "default" } : settings, problems };
}

const VALUE_KEYS = Object.entries(SETTINGS).flatMap(([key, { merge }]) =>
  merge === "rules" || merge === "hooks" ? [] : [key],
) as SettingKey[];

const MERGED = { first: singleValue, joined: joinedValue, named: namedValue } as const;

type IgnoredValue = { readonly key: string; readonly at: WrittenValue["at"] };

function joinedValue(layers: readonly Layer[], key: SettingKey, ignored: IgnoredValue[]): readonly unknown[] {
  const row: ValueRow = SETTINGS[key];
  return layers.flatMap((layer) => {
    const found = layer.written.values.get(key);
    if (!found || !Array.isArray(found.value)) return [];
    if (mayLoosen(layer, row) || row.untrusted === "yes") return found.value;
    if (found.value.length > 0) ignored.push({ key, at: found.at });
    return [];
  });
}

/** Every entry gets the file it comes from. */
function namedValue(layers: readonly Layer[], key: SettingKey, ignored: IgnoredValue[]): Readonly<Record<string, unknown>> {
  const row: ValueRow = SETTINGS[key];
  const entries = layers.flatMap((layer): [string, unknown][] => {
    const found = layer.written.values.get(key);
    if (!found || !isObject(found.value)) return [];
    if (mayLoosen(layer, row)) return Object.entries(found.value).map(([name, entry]) => [name, { ...Object(entry), file: layer.file }]);
    if (Object.keys(found.value).length > 0) ignored.push({ key, at: found.at });
    return [];
  });
  return Object.fromEntries(entries);
}

function joinSecretNames(layers: readonly Layer[]): readonly [key: keyof Settings, names: readonly unknown[]][] {
  const project = layers.filter(({ scope }) => scope === "project");
  const others = layers.filter(({ scope }) => scope !== "project");
  return [
    ["secretEnv", joinedValue(others, "secretEnv", [])],
    ["projectSecretEnv", joinedValue(project, "secretEnv", [])],
  ];
}

function singleValue(layers: readonly Layer[], key: SettingKey, ignored: IgnoredValue[]): unknown {
  const row: ValueRow = SETTINGS[key];
  const others = valueFrom(layers.filter((layer) => mayLoosen(layer, row)));
  const project = layers.find((layer) => !mayLoosen(layer, row))?.written.values.get(key);
  if (!project || row.untrusted === "yes") return others;
  if (row.untrusted === "tighten" && layers.some(({ scope, written }) => scope === "session" && written.values.has(key))) return others;
  if (row.tightens?.(project.value, others) && !isLocked(layers, key, project.value)) return project.value;
  if (row.untrusted === "no" || project.value !== others) ignored.push({ key, at: project.at });
  return others;

  function valueFrom(from: readonly Layer[]): unknown {
    const values = from.flatMap(({ written }) => (written.values.has(key) ? [written.values.get(key)?.value] : []));
    if (values.length === 0) return row.initial;
    if (!row.personal) return values[0];
    return values.reduce((strictest, value) => row.narrow?.(strictest, value) ?? (row.tightens?.(value, strictest) ? value : strictest));
  }
}

function mayLoosen({ scope, trusted }: Layer, { personal }: Pick<ValueRow, "personal">): boolean {
  return trusted && !(personal && scope === "project");
}

/** An untrusted project must not stop the program with a locked mode. */
function isLocked(layers: readonly Layer[], key: SettingKey, value: unknown): boolean {
  return key === "mode" && joinedValue(layers, "permissions.lock", []).includes(value);
}

/** One warning per file, at the first ignored value. */
function ignoredWarnings(layers: readonly Layer[], values: readonly IgnoredValue[]): readonly SettingsProblem[] {
  const layer = layers.find(({ scope, trusted }) => !trusted || scope === "project");
  if (!layer) return [];
  const { rules, hooks } = layer.written;
  const ignored: readonly IgnoredValue[] = [
    ...values,
    ...rules.filter((rule) => !mayApply(layer, rule)).map(({ list, at }) => ({ key: list, at })),
    ...(hooks && !layer.trusted && Object.keys(hooks.value.value).length > 0 ? [{ key: "hooks", at: hooks.at }] : []),
  ];
  const first = ignored.toSorted((a, b) => a.at.line - b.at.line || a.at.column - b.at.column)[0];
  if (!first) return [];
  const keys = [...new Set(ignored.map(({ key }) => key))].join(", ");
  const [message, advice] = layer.trusted
    ? [
        "a project's settings cannot choose the record, where it is sent or who is notified, or loosen how commands are confined or previewed",
        "Write them in your own settings.",
      ]
    : ["until you trust this workspace, its settings can only make rules stricter", "To trust the workspace, run: assent trust"];
  const hint = `Ignored: ${keys}. ${advice}`;
  return [{ type: "rule_project_untrusted", file: layer.file, ...first.at, key: first.key, message, hint, effect: "warning" }];
}

export function mayApply(layer: Layer, { list }: RuleEntry): boolean {
  return mayLoosen(layer, SETTINGS[list]) || SETTINGS[list].untrusted === "yes";
}

/** Only the team or a policy file may lock modes. */
function findMisplacedLocks(layers: readonly Layer[]): readonly SettingsProblem[] {
  return layers.flatMap(({ scope, trusted, file, written }) => {
    const found = written.values.get("permissions.lock");
    if (!found || !trusted || scope === "team" || scope === "policy") return [];
    const message = "permissions.lock works only in the team's settings.";
    const hint = "Move it to /etc/assent/settings.json, or remove it.";
    return [{ type: "settings_unknown_key", file, ...found.at, key: "permissions.lock", message, hint, effect: "refuse" }];
  });
}

function findLockedMode(layers: readonly Layer[], { mode, "permissions.lock": lock }: Settings): SettingsProblem | undefined {
  if (!lock.includes(mode)) return undefined;
  const chooser = layers.find(({ written }) => written.values.get("mode")?.value === mode);
  const found = chooser?.written.values.get("mode");
  if (!chooser || !found) return undefined; // it is only the default
  const message = `The mode ${mode} is locked by your team's settings.`;
  const file = chooser.file === "--" ? "--mode" : chooser.file;
  return { type: "mode_locked", file, ...found.at, key: "mode", message, hint: "Choose another mode.", effect: "refuse" };
}

/** Makes paths absolute before lists are joined. The files and secrets of audit destinations and receivers are protected. */
function anchorPaths(settings: Settings, layers: readonly Layer[], { home }: PolicyLocations): Settings {
  const globs = (key: "permissions.protect" | "permissions.sensitive"): readonly string[] =>
    layers.flatMap(({ root, written }) => {
      const found = written.values.get(key)?.value;
      return Array.isArray(found) ? found.map((glob) => absoluteGlob(String(glob), root, home)) : [];
    });
  const fromHome = (path: string): string => (path.startsWith("~/") ? join(home, path.slice(2)) : path);
  const { variables, files } = secretPlaces([
    ...settings.audit.flatMap((to) => ("webhook" in to ? [to.secret] : "otlp" in to && to.token !== undefined ? [to.token] : [])),
    ...receiverSecrets(settings["notify.receivers"]),
  ]);
  const streams = settings.audit.flatMap((to) => ("file" in to ? [to.file] : []));
  const exact = (path: string): string => `/${escapeGlob(fromHome(path))}`;
  return {
    ...settings,
    secretEnv: [...settings.secretEnv, ...variables],
    "permissions.protect": [...globs("permissions.protect"), ...streams.map(exact)],
    "permissions.sensitive": [...globs("permissions.sensitive"), ...files.map(exact)],
    additionalDirectories: settings.additionalDirectories.map(fromHome),
    "confined.writable": settings["confined.writable"].map(fromHome),
    store: settings.store && fromHome(settings.store),
    audit: settings.audit.map((to) => ("file" in to ? { file: fromHome(to.file) } : to)),
  };
}

function absoluteGlob(glob: string, root: string, home: string): string {
  const under = (directory: string, rest: string): string => `/${escapeGlob(directory)}/${rest}`;
  if (glob.startsWith("//")) return glob;
  if (glob.startsWith("~/")) return under(home, glob.slice(2));
  return glob.startsWith("/") ? under(root, glob.slice(1)) : glob;
}

const NO_PLACE = { line: 0, column: 0 } as const;

/** The flags of this run as a layer. A policy file disables their rules. */
export function sessionLayer({ session, workspace, policyFile, program }: PolicyLocations): Layer {
  const problems: SettingsProblem[] = [];
  const values = new Map<SettingKey, WrittenValue>();
  for (const [key, flag] of FLAGS) {
    const given = session[key];
    if (given === undefined || (Array.isArray(given) && given.length === 0)) continue;
    const reading = SETTINGS[key].read(given);
    if ("value" in reading) values.set(key, { value: reading.value, at: NO_PLACE });
    else problems.push(...reading.faults.map(({ message }) => flagProblem(flag, `${flag} ${message}.`)));
  }
  const counts = program || policyFile === undefined;
  const rules = counts ? RULE_FLAGS.flatMap(([name, list]) => flagRules(session[name], program ? undefined : `--${name}`, list)) : [];
  return {
    scope: "session",
    label: program ? "the program's rules" : "session permissions",
    file: program ? "rules" : "--",
    root: workspace,
    trusted: true,
    written: { values, rules, problems },
  };
}

const FLAGS: readonly (readonly [key: keyof SessionFlags & SettingKey, flag: string])[] = [
  ["mode", "--mode"],
  ["onAsk", "--on-ask"],
  ["additionalDirectories", "--add-dir"],
];

const RULE_FLAGS: readonly (readonly [name: "deny" | "ask" | "allow", list: RuleKey])[] = [
  ["deny", "permissions.deny"],
  ["ask", "permissions.ask"],
  ["allow", "permissions.allow"],
];

function flagRules(texts: readonly string[], flag: string | undefined, list: RuleKey): readonly RuleEntry[] {
  return texts.map((rule) => ({
    rule,
    list,
    ...(flag !== undefined && { flag }),
    key: flag ?? list,
    at: NO_PLACE,
    placeOf: () => NO_PLACE,
  }));
}

function flagProblem(flag: string, message: string): SettingsProblem {
  const type = "settings_type";
  return { type, file: flag, ...NO_PLACE, key: flag, message, hint: "See: assent help", effect: problemEffect(type, false) };
}

import { compileGlob, isAcceptedPlace, MODES, type Mode, type Verdict } from "@assent/core";
import { PROGRAM_VARIABLES, SECRET_VARIABLES, SHELL_VARIABLES } from "@assent/core/parts";
import { isServerName } from "../rules/mcp-name.ts";
import { type AuditDestination, auditDestination } from "./audit-destination.ts";
import { type McpServers, mcpServers } from "./mcp-servers.ts";
import { type NotifyReceivers, notifyReceivers, publicUrl } from "./notify-receivers.ts";
import {
  amount,
  directory,
  directoryOrHome,
  listOf,
  objectWith,
  oneOf,
  storePlace,
  text,
  textRecord,
  trueOrFalse,
  type ValueReader,
  wholeNumber,
} from "./setting-values.ts";

export type RedactionPattern = { readonly name: string; readonly prefix?: string; readonly literal?: string; readonly key?: string };

/** The effective settings by documented key, without rules and hooks. */
export type Settings = {
  readonly version: 1;
  /** A name for the version of one file. */
  readonly policyVersion: string | undefined;
  readonly mode: Mode;
  readonly model: string | undefined;
  readonly onAsk: "deny" | "park" | "fail";
  /** Where the record is; read before the rest, from the user and the team. */
  readonly store: string | undefined;
  /** Where approvals count; undefined: anywhere. */
  readonly answersFrom: readonly string[] | undefined;
  readonly audit: readonly AuditDestination[];
  readonly "permissions.readOnlyHint": "allow" | "ask";
  readonly "permissions.protect": readonly string[];
  readonly "permissions.sensitive": readonly string[];
  readonly "permissions.lock": readonly Mode[];
  readonly additionalDirectories: readonly string[];
  readonly stopHookLimit: number;
  /** Variables hidden from all commands and hooks; from user, team and policy file. */
  readonly secretEnv: readonly string[];
  /** The project's `secretEnv`, for commands and project hooks only. */
  readonly projectSecretEnv: readonly string[];
  readonly "shell.env": readonly string[];
  /** Empty: the system's default. */
  readonly "shell.path": readonly string[];
  readonly sandbox: "off" | "prefer" | "require";
  readonly allowConfined: boolean;
  readonly "confined.writable": readonly string[];
  /** Whether people can see what a command would do before they answer. */
  readonly preview: "off" | "offer" | "always";
  readonly "proposals.resolver": "both" | "model" | "person";
  readonly "proposals.steering": "force" | "remind-then-force" | "remind" | "none";
  readonly "astEdit.maxFiles": number;
  readonly "astEdit.maxChanges": number;
  /** Seconds; 0: never. */
  readonly "ask.timeout": number;
  /** Whether the terminal interface rings when something waits. */
  readonly "notify.terminal": "on" | "off";
  /** The address at which people open the inbox. */
  readonly "notify.publicUrl": string | undefined;
  readonly "notify.receivers": NotifyReceivers;
  readonly "tasks.maxRunning": number;
  /** Undefined: `bubble` in the terminal interface, else `deny`. */
  readonly "tasks.onAsk": "deny" | "bubble" | "park" | undefined;
  readonly "tools.maxConcurrency": number;
  readonly "tools.timeoutMs": number | undefined;
  /** Seconds. */
  readonly "tools.loadTimeout": number;
  /** Seconds. */
  readonly "tools.blockTimeout": number;
  readonly "tools.watch": boolean;
  readonly maxCostUsd: number | undefined;
  readonly maxConsecutiveToolCalls: number;
  readonly editor: string | undefined;
  readonly "tui.theme": "auto" | "light" | "dark";
  readonly "tui.keys": Readonly<Record<string, string>>;
  readonly "recovery.retryIdempotent": boolean;
  readonly mcpServers: Readonly<Record<string, McpServers[string] & { /** The settings file that has it. */ readonly file?: string }>>;
  readonly "mcp.trusted": readonly string[];
  /** Seconds. */
  readonly "mcp.startWait": number;
  readonly "redaction.patterns": readonly RedactionPattern[];
  readonly "telemetry.content": boolean;
};

/** A single value (first layer wins), a list (joined over layers), or named entries (merged over layers, in which the team's wins). */
export type ValueRow<T = unknown> = {
  readonly merge: "first" | "joined" | "named";
  readonly read: ValueReader<T>;
  readonly initial: T;
  /** Whether an untrusted project may set it: always, never, or only stricter. */
  readonly untrusted: "yes" | "no" | "tighten";
  /** Only the user and the team may loosen it: the strictest of their values counts, and a trusted project's value only if it is stricter. */
  readonly personal?: true;
  /** What counts if the user and the team set it; absent: the strictest. A method for the same reason as below. */
  narrow?(one: T, other: T): T;
  /** Only for `tighten`. A method, so that rows of different types fit one table. */
  tightens?(project: T, others: T): boolean;
};

/** A list of rules; `stage` is matched as broadly as ask. */
export type RuleRow = {
  readonly merge: "rules";
  readonly verdict: Verdict;
  readonly untrusted: "yes" | "no";
  /** A project's rules are ignored, even if it is trusted. */
  readonly personal?: true;
};

export type HooksRow = { readonly merge: "hooks"; readonly untrusted: "no" };

export type RuleKey = "permissions.deny" | "permissions.ask" | "permissions.allow" | "proposals.stage" | "confined.network";

export type SettingKey = Exclude<keyof Settings, "projectSecretEnv">;

type SettingsTable = { readonly [K in SettingKey]: ValueRow<Settings[K]> } & Readonly<Record<RuleKey, RuleRow>> & {
    readonly hooks: HooksRow;
  };

const MAX_TIMER_SECONDS = 2_147_483;

const MODE_RANK: Readonly<Record<Mode, number>> = { plan: 0, default: 1, "auto-edit": 2, yolo: 3 };

const SANDBOX_RANK = { off: 0, prefer: 1, require: 2 } as const;
const PREVIEW_RANK: Readonly<Record<Settings["preview"], number>> = { off: 0, offer: 1, always: 2 };

const mode = oneOf(...MODES);
const pathGlob = text("a path glob", (value) => !value.includes("\0"));
const nameGlob = text("a variable name, where * matches any text", (value) => /^[A-Za-z0-9_*]+$/.test(value));
const variable = text("the name of a variable that is not a secret and does not redirect programs", isPassable);
const place = text("one of terminal, command, inbox, host, dialog, dialog:AGENT, elicitation, elicitation:CLIENT", (value) =>
  /^(?:terminal|command|inbox|host|dialog|elicitation|(?:dialog|elicitation):[\w.-]+)$/.test(value),
);
const server = text("a server name", isServerName);

const isVersion = (value: string): boolean => value.length <= 64 && /^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(value);

const redaction: ValueReader<RedactionPattern> = (value) => {
  const reading = objectWith("name", ["prefix", "literal", "key"])(value);
  return "faults" in reading ? reading : { value: { name: "", ...reading.value } };
};

/** 0 means the default. */
const consecutive: ValueReader<number> = (value) => {
  const reading = wholeNumber(0)(value);
  return "value" in reading && reading.value === 0 ? { value: 5 } : reading;
};

/** All keys, in documentation order. */
export const SETTINGS: SettingsTable = {
  version: { merge: "first", read: oneOf(1), initial: 1, untrusted: "yes" },
  policyVersion: single(text("a version of at most 64 ASCII characters, with single spaces", isVersion), undefined),
  mode: {
    merge: "first",
    read: mode,
    initial: "default",
    untrusted: "tighten",
    tightens: (project, others) => (project === "default" || project === "plan") && MODE_RANK[project] < MODE_RANK[others],
  },
  model: single(text("a model, as provider:name"), undefined),
  onAsk: single(oneOf("deny", "park", "fail"), "deny"),
  store: { ...single<string | undefined>(storePlace, undefined), personal: true },
  answersFrom: {
    ...single<readonly string[] | undefined>(listOf(place), undefined),
    personal: true,
    narrow: commonPlaces,
  },
  audit: { ...joined(auditDestination, "no"), personal: true },
  "permissions.deny": { merge: "rules", verdict: "deny", untrusted: "yes" },
  "permissions.ask": { merge: "rules", verdict: "ask", untrusted: "yes" },
  "permissions.allow": { merge: "rules", verdict: "allow", untrusted: "no" },
  "permissions.readOnlyHint": tightenedTo("ask", oneOf("allow", "ask"), "allow"),
  "permissions.protect": joined(pathGlob, "yes"),
  "permissions.sensitive": joined(pathGlob, "yes"),
  "permissions.lock": joined(mode, "no"),
  additionalDirectories: joined(directoryOrHome, "no"),
  hooks: { merge: "hooks", untrusted: "no" },
  stopHookLimit: single(wholeNumber(1, 100), 8),
  secretEnv: joined(nameGlob, "yes"),
  "shell.env": joined(variable, "no"),
  "shell.path": joined(directory, "no"),
  sandbox: {
    merge: "first",
    read: oneOf("off", "prefer", "require"),
    initial: "off",
    untrusted: "tighten",
    personal: true,
    tightens: (project, others) => SANDBOX_RANK[project] > SANDBOX_RANK[others],
  },
  allowConfined: { ...tightenedTo(false, trueOrFalse, false), personal: true },
  "confined.writable": { ...joined(directoryOrHome, "no"), personal: true },
  "confined.network": { merge: "rules", verdict: "allow", untrusted: "no", personal: true },
  preview: {
    merge: "first",
    read: oneOf("off", "offer", "always"),
    initial: "offer",
    untrusted: "tighten",
    personal: true,
    tightens: (project, others) => PREVIEW_RANK[project] < PREVIEW_RANK[others],
  },
  "proposals.resolver": tightenedTo("person", oneOf("both", "model", "person"), "both"),
  "proposals.steering": single(oneOf("force", "remind-then-force", "remind", "none"), "force"),
  "proposals.stage": { merge: "rules", verdict: "ask", untrusted: "yes" },
  "astEdit.maxFiles": lowered(wholeNumber(1), 10_000),
  "astEdit.maxChanges": lowered(wholeNumber(1), 50_000),
  "ask.timeout": single(amount("seconds", MAX_TIMER_SECONDS), 0),
  "notify.terminal": single(oneOf("on", "off"), "on"),
  "notify.publicUrl": { ...single<string | undefined>(publicUrl, undefined), personal: true },
  "notify.receivers": { merge: "named", read: notifyReceivers, initial: {}, untrusted: "no", personal: true },
  "tasks.maxRunning": lowered(wholeNumber(1, 100), 10),
  "tasks.onAsk": tightenedTo("deny", oneOf("deny", "bubble", "park"), undefined),
  "tools.maxConcurrency": lowered(wholeNumber(1, 100), 10),
  "tools.timeoutMs": lowered(wholeNumber(1), undefined),
  "tools.loadTimeout": single(amount("seconds", MAX_TIMER_SECONDS), 10),
  "tools.blockTimeout": single(amount("seconds", MAX_TIMER_SECONDS), 10),
  "tools.watch": single(trueOrFalse, false),
  maxCostUsd: lowered(amount("US dollars"), undefined),
  maxConsecutiveToolCalls: lowered(consecutive, 5),
  editor: single(text("a command"), undefined),
  "tui.theme": single(oneOf("auto", "light", "dark"), "auto"),
  "tui.keys": single(textRecord, {}),
  "recovery.retryIdempotent": single(trueOrFalse, false),
  mcpServers: { merge: "named", read: mcpServers, initial: {}, untrusted: "no" },
  "mcp.trusted": joined(server, "no"),
  "mcp.startWait": single(amount("seconds", MAX_TIMER_SECONDS), 10),
  "redaction.patterns": joined(redaction, "yes"),
  "telemetry.content": single(trueOrFalse, false),
};

/** The places that both lists accept. */
function commonPlaces(one: Settings["answersFrom"], other: Settings["answersFrom"]): Settings["answersFrom"] {
  const both = [
    ...(one ?? []).filter((from) => isAcceptedPlace(other, from)),
    ...(other ?? []).filter((from) => isAcceptedPlace(one, from)),
  ];
  return [...new Set(both)];
}

function single<T>(read: ValueReader<T>, initial: T): ValueRow<T> {
  return { merge: "first", read, initial, untrusted: "no" };
}

function joined<T>(item: ValueReader<T>, untrusted: "yes" | "no"): ValueRow<readonly T[]> {
  return { merge: "joined", read: listOf(item), initial: [], untrusted };
}

function tightenedTo<T>(strictest: T, read: ValueReader<T>, initial: T): ValueRow<T> {
  return {
    merge: "first",
    read,
    initial,
    untrusted: "tighten",
    tightens: (project, others) => project === strictest && others !== strictest,
  };
}

/** An untrusted project may only lower it. */
function lowered<T extends number | undefined>(read: ValueReader<T>, initial: T): ValueRow<T> {
  const tightens = (project: T, others: T): boolean => project !== undefined && (others === undefined || project < others);
  return { merge: "first", read, initial, untrusted: "tighten", tightens };
}

/** Variables that settings may not pass to commands allowed by a rule. */
const REFUSED_VARIABLES = [...SHELL_VARIABLES, ...SECRET_VARIABLES, ...PROGRAM_VARIABLES];

function isPassable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !REFUSED_VARIABLES.some((glob) => compileGlob(glob).matches(name));
}

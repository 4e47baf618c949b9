import {
  type Circumstances,
  type Decision,
  type Hint,
  MODES,
  type NamedChecker,
  type Opinion,
  type RuleRef,
  type Safeguard,
  type Scope,
  SEVERITY,
  type TraceEntry,
  type Verdict,
} from "./decision.ts";
import type { Kind } from "./kind.ts";
import type { Request, Unit } from "./request.ts";
import { messageOf } from "./result/thrown.ts";

/**
 * Makes every verdict. Each unit is judged alone, and the strictest unit decides: deny, then explicit ask, then ask, then allow.
 * Within a step, the named source is the first of: safeguards, checkers (session, project, user, team), hook, tool, mode.
 *
 * 1. deny – a safeguard, any checker, the hook or the tool denies; or mode `plan` and the request is not known to be safe.
 * 2. ask, explicitly – a safeguard, any checker or the hook asks. No grant, mode or permission hook can answer it.
 * 3. allow – any checker allows.
 * 4. allow by mode – `yolo` everything left; `auto-edit` an edit inside the workspace; `plan` an edit of the plan file.
 * 5. allow – the tool allows; or it declared nothing and the read-only hint holds.
 * 6. allow if the hook allows; else ask. Only this ask can be answered by a grant or a permission hook.
 */
export function decide(request: Request, circumstances: Circumstances): Decision {
  const court = fillCircumstances(circumstances);
  const { units } = request;
  let ruling = judge(court, request, units[0] ?? { subject: request.tool });
  let index = 0;
  let byRules = passesByRules(ruling.speaker);
  for (let i = 1; i < units.length; i++) {
    const other = judge(court, request, units[i] ?? { subject: request.tool });
    byRules &&= passesByRules(other.speaker);
    if (strictness(other.speaker) <= strictness(ruling.speaker)) continue;
    ruling = other;
    index = i;
  }
  return toDecision(ruling, { unit: index, units: Math.max(1, units.length), byRules });
}

/** Returns the strictest opinion; of equally strict ones, the first. */
export function strictest<T extends Opinion>(opinions: readonly T[]): T | undefined {
  let winner: T | undefined;
  for (const opinion of opinions) winner = stricter(winner, opinion);
  return winner;
}

function stricter<T extends Opinion>(one: T | undefined, other: T | undefined): T | undefined {
  if (!(one && other)) return one ?? other;
  return SEVERITY[other.verdict] > SEVERITY[one.verdict] ? other : one;
}

/** `Circumstances` with all fields set and checkers in naming order. */
type FullCircumstances = Required<Circumstances>;

function fillCircumstances(given: Circumstances): FullCircumstances {
  const checkers = given.checkers && byScope(given.checkers);
  if (isWhole(given) && checkers === given.checkers) return given;
  return { mode: given.mode, safeguards: given.safeguards ?? [], checkers: checkers ?? [], hint: given.hint ?? {} };
}

function isWhole(given: Circumstances): given is FullCircumstances {
  const { safeguards, checkers, hint } = given;
  return safeguards !== undefined && checkers !== undefined && hint !== undefined;
}

type DecidingOpinion = Opinion & { readonly step: DecisionStep; readonly scope?: Scope };

type UnitDecision = { readonly speaker: DecidingOpinion; readonly trace: readonly TraceEntry[] };

type UnitOpinions = {
  readonly request: Request;
  readonly unit: Unit;
  readonly trace: TraceEntry[];
  insisting: DecidingOpinion | undefined;
  allowing: DecidingOpinion | undefined;
};

function judge(court: FullCircumstances, request: Request, unit: Unit): UnitDecision {
  const { mode, hint } = court;
  const heard = court.safeguards.length + court.checkers.length === 0 ? undefined : hear(court, request, unit);
  const planDenies = mode === "plan" && !knownToBeSafe(request.kind, hint);
  const hooked = stricter(heard?.insisting, insistingHook(hint.hook));
  const insisting = stricter(stricter(hooked, deniedByTool(hint)), planDenies ? PLAN_DENIES : undefined);
  const speaker =
    insisting ?? // 1, 2
    heard?.allowing ?? // 3
    allowedByMode(mode, request.kind, hint) ?? // 4
    allowedByTool(hint, unit) ?? // 5
    allowedByHook(hint.hook) ?? // 6
    asked(hint);
  const modes = modeEntry(mode, planDenies ? "deny" : speaker.step);
  const last = [hookEntry(hint.hook), toolEntry(hint), modes, hintEntry(speaker), defaultEntry(speaker)];
  return { speaker, trace: heard ? [...heard.trace, ...last] : last };
}

function hear({ safeguards, checkers }: FullCircumstances, request: Request, unit: Unit): UnitOpinions {
  const hearing: UnitOpinions = { request, unit, trace: [], insisting: undefined, allowing: undefined };
  for (const guard of safeguards) hearGuard(hearing, guard);
  for (const checker of checkers) hearChecker(hearing, checker);
  return hearing;
}

/** What a safeguard or checker says about the unit; `error`, when it throws or returns an invalid value, denies. */
type CheckAnswer = { readonly verdict: Verdict | "none" | "error"; readonly rule?: RuleRef; readonly note?: string };

type OpinionSource = { readonly check: (request: Request, unit: Unit) => CheckAnswer };

type TraceName = {
  readonly layer: string;
  readonly reason: "guard" | "checker";
  readonly source: string;
  readonly scope?: Scope;
  /** Its trace entry when it has no opinion. */
  readonly silent: TraceEntry;
};

/** Every unit of every call needs these names, so they are cached. */
const NAMES = new WeakMap<Safeguard | NamedChecker, TraceName>();

function nameOfGuard(guard: Safeguard): TraceName {
  return NAMES.get(guard) ?? named(guard, { layer: `safeguard:${guard.id}`, reason: "guard", source: guard.id });
}

function nameOfChecker(checker: NamedChecker): TraceName {
  const { label, scope } = checker;
  return NAMES.get(checker) ?? named(checker, { layer: label, reason: "checker", source: label, scope });
}

function named(speaker: Safeguard | NamedChecker, name: Omit<TraceName, "silent">): TraceName {
  const full = { ...name, silent: Object.freeze({ layer: name.layer, opinion: "none" } as const) };
  NAMES.set(speaker, full);
  return full;
}

const NONSENSE: CheckAnswer = Object.freeze({ verdict: "error", note: "failed: it gave no valid opinion" });

function consult({ request, unit }: UnitOpinions, speaker: OpinionSource): CheckAnswer {
  try {
    const statement = speaker.check(request, unit);
    return statement.verdict === "none" || Object.hasOwn(SEVERITY, statement.verdict) ? statement : NONSENSE;
  } catch (error) {
    return { verdict: "error", note: `failed: ${messageOf(error)}` };
  }
}

function hearGuard(hearing: UnitOpinions, guard: Safeguard): void {
  const statement = consult(hearing, guard);
  record(hearing, statement.verdict === "allow" ? NONSENSE : statement, nameOfGuard(guard));
}

function hearChecker(hearing: UnitOpinions, checker: NamedChecker): void {
  record(hearing, consult(hearing, checker), nameOfChecker(checker));
}

function record(hearing: UnitOpinions, { verdict, rule, note }: CheckAnswer, { layer, reason, source, scope, silent }: TraceName): void {
  if (verdict === "none" && !rule && note === undefined) {
    hearing.trace.push(silent);
    return;
  }
  const entry: Mutable<TraceEntry> = { layer, opinion: verdict };
  if (rule) entry.rule = rule.text;
  if (note !== undefined) entry.note = note;
  hearing.trace.push(entry);
  if (verdict === "none") return;
  const speaker: Mutable<DecidingOpinion> = { verdict: verdict === "error" ? "deny" : verdict, reason, source, step: STEP[verdict] };
  if (scope) speaker.scope = scope;
  if (reason === "guard") speaker.rule = { text: layer };
  else if (rule) speaker.rule = rule;
  if (note !== undefined) speaker.note = note;
  if (verdict === "allow") hearing.allowing ??= speaker;
  else hearing.insisting = stricter(hearing.insisting, speaker);
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const STEP = { error: 1, deny: 1, ask: 2, allow: 3 } as const;

function hookEntry(hook: Hint["hook"]): TraceEntry {
  if (!hook) return HOOK_ENTRIES.none;
  const { verdict, reason, name } = hook;
  return { layer: "hook", opinion: verdict, note: reason === undefined ? name : `${name}: ${reason}` };
}

function insistingHook(hook: Hint["hook"]): DecidingOpinion | undefined {
  return hook && hook.verdict !== "allow" ? hookSpeaker(hook, STEP[hook.verdict]) : undefined;
}

function hookSpeaker({ verdict, reason, name }: NonNullable<Hint["hook"]>, step: DecidingOpinion["step"]): DecidingOpinion {
  const speaker: Mutable<DecidingOpinion> = { verdict, reason: "hook", source: name, step };
  if (reason !== undefined) speaker.note = reason;
  return speaker;
}

function toolEntry({ tool, toolNote }: Hint): TraceEntry {
  const entry = TOOL_ENTRIES[tool ?? "none"];
  return toolNote === undefined ? entry : { ...entry, note: toolNote };
}

function deniedByTool({ tool, toolNote }: Hint): DecidingOpinion | undefined {
  if (tool !== "deny") return undefined;
  return toolNote === undefined ? TOOL_DENIES : { ...TOOL_DENIES, note: toolNote };
}

function knownToBeSafe(kind: Kind, hint: Hint): boolean {
  if (kind === "read" || kind === "search" || kind === "fetch" || kind === "think") return true;
  if (hint.safe || hint.ownTool) return true;
  return (kind === "other" && hint.readOnly === true) || (kind === "edit" && hint.planFile === true);
}

function allowedByMode(mode: string, kind: Kind, hint: Hint): DecidingOpinion | undefined {
  if (mode === "yolo") return YOLO;
  if (mode === "auto-edit" && kind === "edit" && hint.insideWorkspace) return AUTO_EDIT;
  if (mode === "plan" && kind === "edit" && hint.planFile) return PLAN_FILE;
  return undefined;
}

function allowedByTool({ tool, readOnly, readOnlyParts }: Hint, unit: Unit): DecidingOpinion | undefined {
  if (tool === "allow") return TOOL_ALLOWS;
  return tool === undefined && (readOnly || (readOnlyParts && unit.readOnly)) ? READ_ONLY : undefined;
}

function allowedByHook(hook: Hint["hook"]): DecidingOpinion | undefined {
  return hook?.verdict === "allow" ? hookSpeaker(hook, 6) : undefined;
}

function asked({ tool, toolNote }: Hint): DecidingOpinion {
  if (tool !== "ask") return NO_OPINION;
  return toolNote === undefined ? TOOL_ASKS : { ...TOOL_ASKS, note: toolNote };
}

const PLAN_DENIES: DecidingOpinion = Object.freeze({ verdict: "deny", reason: "mode", source: "plan", step: 1 });
const TOOL_DENIES: DecidingOpinion = Object.freeze({ verdict: "deny", reason: "tool", source: "", step: 1 });
const YOLO: DecidingOpinion = Object.freeze({ verdict: "allow", reason: "yolo", source: "", step: 4 });
const AUTO_EDIT: DecidingOpinion = Object.freeze({ verdict: "allow", reason: "mode", source: "auto-edit", step: 4 });
const PLAN_FILE: DecidingOpinion = Object.freeze({ verdict: "allow", reason: "mode", source: "plan", step: 4 });
const TOOL_ALLOWS: DecidingOpinion = Object.freeze({ verdict: "allow", reason: "tool", source: "", step: 5 });
const READ_ONLY: DecidingOpinion = Object.freeze({ verdict: "allow", reason: "readonly_hint", source: "", step: 5 });
const TOOL_ASKS: DecidingOpinion = Object.freeze({ verdict: "ask", reason: "tool", source: "", step: 6 });
const NO_OPINION: DecidingOpinion = Object.freeze({ verdict: "ask", reason: "default", source: "", step: 6 });

/** Steps 3 and 5 allow without a person; in modes and hooks the text itself passes deliberately. */
function passesByRules({ step }: DecidingOpinion): boolean {
  return step === 3 || step === 5;
}

function strictness({ verdict, step }: DecidingOpinion): number {
  return step === 2 ? SEVERITY.ask + 0.5 : SEVERITY[verdict];
}

function toDecision({ speaker, trace }: UnitDecision, about: Pick<Decision, "unit" | "units" | "byRules">): Decision {
  const { verdict, reason, source, rule, note, scope, step } = speaker;
  const { unit, units, byRules } = about;
  const decision: Mutable<Decision> = { verdict, reason, source, explicitAsk: step === 2, unit, units, byRules, trace };
  if (rule) decision.rule = rule;
  if (note !== undefined) decision.note = note;
  if (scope) decision.scope = scope;
  return decision;
}

/** Every other scope comes last. */
const PLACE: Readonly<Partial<Record<Scope, number>>> = { session: 0, project: 1, user: 2, team: 3 };

/** The order in which equal checkers are named. */
function byScope(checkers: readonly NamedChecker[]): readonly NamedChecker[] {
  let before = 0;
  for (const checker of checkers) {
    const place = placeOf(checker);
    if (place < before) return checkers.toSorted((a, b) => placeOf(a) - placeOf(b));
    before = place;
  }
  return checkers;
}

function placeOf({ scope }: NamedChecker): number {
  return PLACE[scope] ?? 4;
}

/** The step of `decide` that an opinion decides in. */
export type DecisionStep = 1 | 2 | 3 | 4 | 5 | 6;

type DecidedStep = Opinion & { readonly step: DecisionStep };
type EntryTable = Readonly<Record<TraceEntry["opinion"], TraceEntry>>;

/** Layers with the same answer for most calls share entries to keep traces small. */
function entriesOf(layer: string, note?: string): EntryTable {
  const entry = (opinion: TraceEntry["opinion"]): TraceEntry =>
    Object.freeze(note === undefined ? { layer, opinion } : { layer, opinion, note });
  return {
    allow: entry("allow"),
    ask: entry("ask"),
    deny: entry("deny"),
    none: entry("none"),
    error: entry("error"),
    not_reached: entry("not_reached"),
  };
}

const HOOK_ENTRIES: EntryTable = entriesOf("hook");

const TOOL_ENTRIES: EntryTable = entriesOf("tool");

const MODE: ReadonlyMap<string, EntryTable> = new Map(MODES.map((mode) => [mode, entriesOf("mode", mode)]));
const USUAL = MODE.get("default");
const HINT = entriesOf("readonly_hint");
const DEFAULT = entriesOf("default");

const MODE_AT = { 1: "not_reached", 2: "not_reached", 3: "not_reached", 4: "allow", 5: "none", 6: "none" } as const;

/** The mode's entry: that it denies, or what follows from the deciding step. */
function modeEntry(mode: string, said: "deny" | DecisionStep): TraceEntry {
  const opinion = said === "deny" ? said : MODE_AT[said];
  const entries = mode === "default" ? USUAL : MODE.get(mode);
  return entries?.[opinion] ?? { layer: "mode", opinion, note: `unknown mode '${mode}'` };
}

function hintEntry({ reason, step }: DecidedStep): TraceEntry {
  if (reason === "readonly_hint") return HINT.allow;
  return step === 6 ? HINT.none : HINT.not_reached;
}

function defaultEntry({ step, verdict }: DecidedStep): TraceEntry {
  return step === 6 && verdict === "ask" ? DEFAULT.ask : DEFAULT.not_reached;
}

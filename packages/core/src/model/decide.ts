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
 * 6. allow if the hook allows.
 * 7. allow – the request runs confined, without network, not in the background and naming no file with secrets, and the settings allow that (`allowConfined`).
 * 8. ask. Only this ask can be answered by a grant or a permission hook.
 */
export function decide(request: Request, circumstances: Circumstances): Decision {
  const full = fillCircumstances(circumstances);
  const { units } = request;
  let ruling = judgeUnit(full, request, units[0] ?? { subject: request.tool });
  let index = 0;
  let byRules = passesByRules(ruling.deciding);
  for (let i = 1; i < units.length; i++) {
    const other = judgeUnit(full, request, units[i] ?? { subject: request.tool });
    byRules &&= passesByRules(other.deciding);
    if (strictness(other.deciding) <= strictness(ruling.deciding)) continue;
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

type UnitDecision = { readonly deciding: DecidingOpinion; readonly trace: readonly TraceEntry[] };

type UnitOpinions = {
  readonly request: Request;
  readonly unit: Unit;
  readonly trace: TraceEntry[];
  tightening: DecidingOpinion | undefined;
  allowing: DecidingOpinion | undefined;
};

function judgeUnit(circumstances: FullCircumstances, request: Request, unit: Unit): UnitDecision {
  const { mode, hint } = circumstances;
  const collected =
    circumstances.safeguards.length + circumstances.checkers.length === 0 ? undefined : collectOpinions(circumstances, request, unit);
  const planDenies = mode === "plan" && !knownToBeSafe(request.kind, hint);
  const hooked = stricter(collected?.tightening, strictHookOpinion(hint.hook));
  const tightening = stricter(stricter(hooked, deniedByTool(hint)), planDenies ? PLAN_DENIES : undefined);
  const deciding =
    tightening ?? // 1, 2
    collected?.allowing ?? // 3
    allowedByMode(mode, request.kind, hint) ?? // 4
    allowedByTool(hint, unit) ?? // 5
    allowedByHook(hint.hook) ?? // 6
    allowedByContainment(hint, request) ?? // 7
    askByDefault(hint); // 8
  const modes = modeEntry(mode, planDenies ? "deny" : deciding.step);
  const confined = hint.allowConfined && request.containment ? [CONFINED_ENTRIES[confinedOpinion(deciding)]] : [];
  const last = [hookEntry(hint.hook), toolEntry(hint), modes, hintEntry(deciding), ...confined, defaultEntry(deciding)];
  return { deciding, trace: collected ? [...collected.trace, ...last] : last };
}

function collectOpinions({ safeguards, checkers }: FullCircumstances, request: Request, unit: Unit): UnitOpinions {
  const opinions: UnitOpinions = { request, unit, trace: [], tightening: undefined, allowing: undefined };
  for (const safeguard of safeguards) {
    const answer = consultSource(opinions, safeguard);
    addOpinion(opinions, answer.verdict === "allow" ? INVALID_ANSWER : answer, nameOfSafeguard(safeguard));
  }
  for (const checker of checkers) addOpinion(opinions, consultSource(opinions, checker), nameOfChecker(checker));
  return opinions;
}

/** An `error` (a throw or an invalid value) denies. */
type CheckAnswer = { readonly verdict: Verdict | "none" | "error"; readonly rule?: RuleRef; readonly note?: string };

type OpinionSource = { readonly check: (request: Request, unit: Unit) => CheckAnswer };

type TraceName = {
  readonly layer: string;
  readonly reason: "guard" | "checker";
  readonly source: string;
  readonly scope?: Scope;
  readonly silent: TraceEntry;
};

/** Cached, because every unit of every call needs these names. */
const NAMES = new WeakMap<Safeguard | NamedChecker, TraceName>();

function nameOfSafeguard(safeguard: Safeguard): TraceName {
  const { id } = safeguard;
  return NAMES.get(safeguard) ?? cacheName(safeguard, { layer: `safeguard:${id}`, reason: "guard", source: id });
}

function nameOfChecker(checker: NamedChecker): TraceName {
  const { label, scope } = checker;
  return NAMES.get(checker) ?? cacheName(checker, { layer: label, reason: "checker", source: label, scope });
}

function cacheName(checker: Safeguard | NamedChecker, name: Omit<TraceName, "silent">): TraceName {
  const full = { ...name, silent: Object.freeze({ layer: name.layer, opinion: "none" } as const) };
  NAMES.set(checker, full);
  return full;
}

const INVALID_ANSWER: CheckAnswer = Object.freeze({ verdict: "error", note: "failed: it gave no valid opinion" });

function consultSource({ request, unit }: UnitOpinions, source: OpinionSource): CheckAnswer {
  try {
    const answer = source.check(request, unit);
    return answer.verdict === "none" || Object.hasOwn(SEVERITY, answer.verdict) ? answer : INVALID_ANSWER;
  } catch (error) {
    return { verdict: "error", note: `failed: ${messageOf(error)}` };
  }
}

function addOpinion(
  opinions: UnitOpinions,
  { verdict, rule, note }: CheckAnswer,
  { layer, reason, source, scope, silent }: TraceName,
): void {
  if (verdict === "none" && !rule && note === undefined) {
    opinions.trace.push(silent);
    return;
  }
  const entry: Mutable<TraceEntry> = { layer, opinion: verdict };
  if (rule) entry.rule = rule.text;
  if (note !== undefined) entry.note = note;
  opinions.trace.push(entry);
  if (verdict === "none") return;
  const deciding: Mutable<DecidingOpinion> = { verdict: verdict === "error" ? "deny" : verdict, reason, source, step: STEP[verdict] };
  if (scope) deciding.scope = scope;
  if (reason === "guard") deciding.rule = { text: layer };
  else if (rule) deciding.rule = rule;
  if (note !== undefined) deciding.note = note;
  if (verdict === "allow") opinions.allowing ??= deciding;
  else opinions.tightening = stricter(opinions.tightening, deciding);
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const STEP = { error: 1, deny: 1, ask: 2, allow: 3 } as const;

function hookEntry(hook: Hint["hook"]): TraceEntry {
  if (!hook) return HOOK_ENTRIES.none;
  const { verdict, reason, name } = hook;
  return { layer: "hook", opinion: verdict, note: reason === undefined ? name : `${name}: ${reason}` };
}

function strictHookOpinion(hook: Hint["hook"]): DecidingOpinion | undefined {
  return hook && hook.verdict !== "allow" ? hookOpinion(hook, STEP[hook.verdict]) : undefined;
}

function hookOpinion({ verdict, reason, name }: NonNullable<Hint["hook"]>, step: DecidingOpinion["step"]): DecidingOpinion {
  const deciding: Mutable<DecidingOpinion> = { verdict, reason: "hook", source: name, step };
  if (reason !== undefined) deciding.note = reason;
  return deciding;
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
  return hook?.verdict === "allow" ? hookOpinion(hook, 6) : undefined;
}

/** Replaces only the default prompt. A tool that asks by itself still asks. */
function allowedByContainment({ allowConfined, tool }: Hint, { containment }: Request): DecidingOpinion | undefined {
  if (!allowConfined || tool !== undefined || !containment?.confined) return undefined;
  return containment.network || containment.lasting || containment.secret ? undefined : CONFINED;
}

function askByDefault({ tool, toolNote }: Hint): DecidingOpinion {
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
const CONFINED: DecidingOpinion = Object.freeze({ verdict: "allow", reason: "confined", source: "", step: 7 });
const TOOL_ASKS: DecidingOpinion = Object.freeze({ verdict: "ask", reason: "tool", source: "", step: 8 });
const NO_OPINION: DecidingOpinion = Object.freeze({ verdict: "ask", reason: "default", source: "", step: 8 });

/** Steps 4, 6 and 7 do not count: a mode, a hook or the sandbox lets the text pass as it is. */
function passesByRules({ step }: DecidingOpinion): boolean {
  return step === 3 || step === 5;
}

function strictness({ verdict, step }: DecidingOpinion): number {
  return step === 2 ? SEVERITY.ask + 0.5 : SEVERITY[verdict];
}

function toDecision({ deciding, trace }: UnitDecision, about: Pick<Decision, "unit" | "units" | "byRules">): Decision {
  const { verdict, reason, source, rule, note, scope, step } = deciding;
  const { unit, units, byRules } = about;
  const decision: Mutable<Decision> = { verdict, reason, source, explicitAsk: step === 2, unit, units, byRules, trace };
  if (rule) decision.rule = rule;
  if (note !== undefined) decision.note = note;
  if (scope) decision.scope = scope;
  return decision;
}

const PLACE: Readonly<Partial<Record<Scope, number>>> = { session: 0, project: 1, user: 2, team: 3 };

/** The order in which equally strict checkers are named. */
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

/** A step of `decide`. */
export type DecisionStep = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

type DecidedStep = Opinion & { readonly step: DecisionStep };
type EntryTable = Readonly<Record<TraceEntry["opinion"], TraceEntry>>;

/** Most calls share these entries, which keeps traces small. */
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
const CONFINED_ENTRIES = entriesOf("confined");
const DEFAULT = entriesOf("default");

const MODE_AT = { 1: "not_reached", 2: "not_reached", 3: "not_reached", 4: "allow", 5: "none", 6: "none", 7: "none", 8: "none" } as const;

function modeEntry(mode: string, step: "deny" | DecisionStep): TraceEntry {
  const opinion = step === "deny" ? step : MODE_AT[step];
  const entries = mode === "default" ? USUAL : MODE.get(mode);
  return entries?.[opinion] ?? { layer: "mode", opinion, note: `unknown mode '${mode}'` };
}

function hintEntry({ reason, step }: DecidedStep): TraceEntry {
  if (reason === "readonly_hint") return HINT.allow;
  return step > 5 ? HINT.none : HINT.not_reached;
}

function confinedOpinion({ step }: DecidedStep): TraceEntry["opinion"] {
  if (step < 7) return "not_reached";
  return step === 7 ? "allow" : "none";
}

function defaultEntry({ step }: DecidedStep): TraceEntry {
  return step === 8 ? DEFAULT.ask : DEFAULT.not_reached;
}

import { MODES, type Opinion, type TraceEntry } from "./decision.ts";

/** The step of `decide` in which an opinion decides. */
export type Step = 1 | 2 | 3 | 4 | 5 | 6;

type Decided = Opinion & { readonly step: Step };
type Entries = Readonly<Record<TraceEntry["opinion"], TraceEntry>>;

/** Layers that say the same for most calls share their entries, so that a trace costs one small list. */
function entriesOf(layer: string, note?: string): Entries {
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

/** What the hook says. */
export const HOOK_ENTRIES: Entries = entriesOf("hook");

/** What the tool itself says. */
export const TOOL_ENTRIES: Entries = entriesOf("tool");

const MODE: ReadonlyMap<string, Entries> = new Map(MODES.map((mode) => [mode, entriesOf("mode", mode)]));
const USUAL = MODE.get("default");
const HINT = entriesOf("readonly_hint");
const DEFAULT = entriesOf("default");

const MODE_AT = { 1: "not_reached", 2: "not_reached", 3: "not_reached", 4: "allow", 5: "none", 6: "none" } as const;

/** What the mode says: that it denies, or what follows from the step that decided. */
export function modeEntry(mode: string, said: "deny" | Step): TraceEntry {
  const opinion = said === "deny" ? said : MODE_AT[said];
  const entries = mode === "default" ? USUAL : MODE.get(mode);
  return entries?.[opinion] ?? { layer: "mode", opinion, note: `unknown mode '${mode}'` };
}

/** What the read-only hint says. */
export function hintEntry({ reason, step }: Decided): TraceEntry {
  if (reason === "readonly_hint") return HINT.allow;
  return step === 6 ? HINT.none : HINT.not_reached;
}

/** What is said where nobody said anything. */
export function defaultEntry({ step, verdict }: Decided): TraceEntry {
  return step === 6 && verdict === "ask" ? DEFAULT.ask : DEFAULT.not_reached;
}

import type { Request, Unit } from "./request.ts";

/** What may happen to a request, in order of severity. */
export type Verdict = "allow" | "ask" | "deny";

/** How strict a verdict is: the higher one wins. */
export const SEVERITY: Readonly<Record<Verdict | "none", number>> = Object.freeze({ none: 0, allow: 1, ask: 2, deny: 3 });

/** Why a verdict is what it is. */
export type Reason = "guard" | "checker" | "mode" | "yolo" | "tool" | "readonly_hint" | "hook" | "default";

/** How much runs without asking. */
export const MODES: readonly ["default", "plan", "auto-edit", "yolo"] = Object.freeze(["default", "plan", "auto-edit", "yolo"] as const);

/** One of `MODES`. */
export type Mode = (typeof MODES)[number];

/** Whose rules a checker holds; it selects the notification source. */
export type Scope = "session" | "project" | "user" | "team" | "policy";

/** A rule as it was written, and where. */
export type RuleRef = {
  readonly text: string;
  readonly source?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly because?: string;
};

/** A verdict with its reason, its speaker and the rule that spoke. */
export type Opinion = {
  readonly verdict: Verdict;
  readonly reason: Reason;
  readonly source: string;
  readonly rule?: RuleRef;
  readonly note?: string;
};

/** What one layer said about the deciding unit. */
export type TraceEntry = {
  readonly layer: string;
  readonly opinion: Verdict | "none" | "error" | "not_reached";
  readonly rule?: string;
  readonly note?: string;
};

/** The verdict on a whole request, with the opinion of every layer on its strictest unit. */
export type Decision = Opinion & {
  /** A guard, an ask rule or a hook insists on a person: no grant, mode or permission hook answers it. */
  readonly explicitAsk: boolean;
  /** Scope of the checker that decided, when one did. */
  readonly scope?: Scope;
  readonly unit: number;
  readonly units: number;
  /** Every unit was allowed by a rule, by the tool or by its read-only hint. No person looks at it, so it may run only as it was parsed. */
  readonly byRules: boolean;
  readonly trace: readonly TraceEntry[];
};

/** A named, ordered list of rules that may have an opinion on one unit of a request. */
export type NamedChecker = {
  readonly label: string;
  readonly scope: Scope;
  readonly check: (request: Request, unit: Unit) => { readonly verdict: Verdict | "none"; readonly rule?: RuleRef };
  /** True if a deny without conditions covers every call of this tool, so the model is not offered it. Absent: no tool is covered as a whole. */
  readonly deniesTool?: (tool: string, kind: string) => boolean;
};

/** Built in, never from settings, in every mode; it can only tighten. */
export type Safeguard = {
  readonly id: string;
  readonly check: (request: Request, unit: Unit) => { readonly verdict: "ask" | "deny" | "none"; readonly note?: string };
};

/** What is known about the request besides the rules. */
export type Hint = {
  /** The tool's own opinion, only if it declares a permission. */
  readonly tool?: Verdict;
  /** Why the tool's opinion is what it is, for the trace. */
  readonly toolNote?: string;
  readonly readOnly?: boolean;
  /** A part of the request that is proven to change nothing counts as read-only. */
  readonly readOnlyParts?: boolean;
  readonly safe?: boolean;
  readonly insideWorkspace?: boolean;
  readonly planFile?: boolean;
  readonly ownTool?: boolean;
  readonly hook?: { readonly verdict: Verdict; readonly reason?: string; readonly name: string };
};

/** Everything `decide` looks at beside the request. */
export type Circumstances = {
  readonly mode: string;
  readonly checkers?: readonly NamedChecker[];
  readonly safeguards?: readonly Safeguard[];
  readonly hint?: Hint;
};

import type { Request, Unit } from "./request.ts";

/** What may happen to a request, in order of severity. */
export type Verdict = "allow" | "ask" | "deny";

/** The strictness of a verdict. */
export const SEVERITY: Readonly<Record<Verdict | "none", number>> = Object.freeze({ none: 0, allow: 1, ask: 2, deny: 3 });

/** Why a verdict was reached. */
export type Reason = "guard" | "checker" | "mode" | "yolo" | "tool" | "readonly_hint" | "confined" | "hook" | "default";

/** How much runs without asking. */
export const MODES: readonly ["default", "plan", "auto-edit", "yolo"] = Object.freeze(["default", "plan", "auto-edit", "yolo"] as const);

/** One of `MODES`. */
export type Mode = (typeof MODES)[number];

/** Whose rules a checker has. */
export type Scope = "session" | "project" | "user" | "team" | "policy";

/** A rule and where it is written. */
export type RuleRef = {
  readonly text: string;
  readonly source?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly because?: string;
};

/** A verdict with its reason, source and rule. */
export type Opinion = {
  readonly verdict: Verdict;
  readonly reason: Reason;
  readonly source: string;
  readonly rule?: RuleRef;
  readonly note?: string;
};

/** The opinion of one layer on the deciding unit. */
export type TraceEntry = {
  readonly layer: string;
  readonly opinion: Verdict | "none" | "error" | "not_reached";
  readonly rule?: string;
  readonly note?: string;
};

/** The verdict on a request, with every layer's opinion on its strictest unit. */
export type Decision = Opinion & {
  /** Only a person can answer. */
  readonly explicitAsk: boolean;
  readonly scope?: Scope;
  readonly unit: number;
  readonly units: number;
  /** Rules, the tool or its read-only hint allowed every unit; no person sees it, so it must run exactly as parsed. */
  readonly byRules: boolean;
  readonly trace: readonly TraceEntry[];
};

/** Rules that may have an opinion on one unit of a request. */
export type NamedChecker = {
  readonly label: string;
  readonly scope: Scope;
  readonly check: (request: Request, unit: Unit) => { readonly verdict: Verdict | "none"; readonly rule?: RuleRef };
  /** An unconditional deny covers this tool, so the model is not offered it. */
  readonly deniesTool?: (tool: string, kind: string) => boolean;
};

/** A built-in check that can only tighten a decision, in every mode. */
export type Safeguard = {
  readonly id: string;
  readonly check: (request: Request, unit: Unit) => { readonly verdict: "ask" | "deny" | "none"; readonly note?: string };
};

/** What is known about a request besides the rules. */
export type Hint = {
  /** Set only if the tool declares a permission. */
  readonly tool?: Verdict;
  readonly toolNote?: string;
  readonly readOnly?: boolean;
  /** Units proven to change nothing count as read-only. */
  readonly readOnlyParts?: boolean;
  readonly safe?: boolean;
  readonly insideWorkspace?: boolean;
  readonly planFile?: boolean;
  readonly ownTool?: boolean;
  /** The settings let commands run without asking if they are confined and have no network. */
  readonly allowConfined?: boolean;
  readonly hook?: { readonly verdict: Verdict; readonly reason?: string; readonly name: string };
};

/** Everything `decide` uses besides the request. */
export type Circumstances = {
  readonly mode: string;
  readonly checkers?: readonly NamedChecker[];
  readonly safeguards?: readonly Safeguard[];
  readonly hint?: Hint;
};

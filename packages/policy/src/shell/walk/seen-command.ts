import type { Hazard, PlanWord, Redirection } from "../plan/plan.ts";
import type { Join } from "../read/strict-reader.ts";

/** A simple command that the walk reached, at any depth. */
export type SeenCommand = {
  readonly argv: readonly PlanWord[];
  /** Labels from the outside in: `&&[1]`, `;[2]`, `|[0]`, `$()`, `sh -c`, `env`, `find -exec`. Empty for a single command. */
  readonly path: readonly string[];
  /** Index among the top-level commands; undefined if deeper. */
  readonly top?: number;
  /** Set together with `top`. */
  readonly join?: Join;
  readonly inside?: number;
  /** The directory that its wrapper changes to (`env -C`). */
  readonly movedTo?: PlanWord;
  readonly assignments: readonly { readonly name: string; readonly dynamic: boolean }[];
  readonly redirections: readonly Redirection[];
  readonly hazards: readonly Hazard[];
  /** Why a deny can't be ruled out, such as a dynamic name or a shell that reads a pipe. */
  readonly doubts: readonly string[];
  /** More words follow at run time (`xargs`). */
  readonly openEnd: boolean;
  readonly at?: readonly [start: number, end: number];
};

/** Everything that the walk found. It proves nothing safe. */
export type WalkResult = {
  readonly commands: readonly SeenCommand[];
  /** False: the text has an error, and a tolerant reader split the rest. */
  readonly parsed: boolean;
  readonly limited: boolean;
  readonly hazards: readonly Hazard[];
};

/** Whether a rule matches a command, read broadly. */
export type MatchAnswer = "yes" | "no" | "doubt";

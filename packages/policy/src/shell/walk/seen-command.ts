import type { Hazard, PlanWord, Redirection } from "../plan/plan.ts";
import type { Join } from "../read/strict-reader.ts";

/** A simple command that the deny walk reached, at any depth. */
export type SeenCommand = {
  readonly argv: readonly PlanWord[];
  /** Labels from the outside in: `&&[1]`, `||[1]`, `;[2]`, `|[0]`, `$()`, `sh -c`, `env`, `find -exec`, … A lone command at the top has none. */
  readonly path: readonly string[];
  /** Place among the plain commands of the text's top level (lists and pipelines only); undefined for anything deeper. */
  readonly top?: number;
  /** How a command of the top level is joined to the one before it; a newline counts as `;`. Set together with `top`. */
  readonly join?: Join;
  /** Index in the walk of the command it was unwrapped from. */
  readonly inside?: number;
  /** The directory into which the command around it goes before it runs this one (`env -C`); dynamic: nobody can tell which. */
  readonly movedTo?: PlanWord;
  readonly assignments: readonly { readonly name: string; readonly dynamic: boolean }[];
  readonly redirections: readonly Redirection[];
  /** Constructs seen on or around this command. */
  readonly hazards: readonly Hazard[];
  /** Why a deny cannot be ruled out here: a dynamic name, an `eval` of something unknown, a shell that reads a pipe. */
  readonly doubts: readonly string[];
  /** The words further on are unknown (`xargs`). */
  readonly openEnd: boolean;
  readonly at?: readonly [start: number, end: number];
};

/** All that the deny walk found. It proves nothing safe. */
export type WalkResult = {
  readonly commands: readonly SeenCommand[];
  /** False: the text has an error; `commands` are then those before it and what a tolerant reader made of the rest. */
  readonly parsed: boolean;
  /** A limit of nesting or of unwrapped scripts was hit. */
  readonly limited: boolean;
  /** Hazards tied to no command. */
  readonly hazards: readonly Hazard[];
};

/** Whether a rule holds for a command when it is read broadly. */
export type MatchAnswer = "yes" | "no" | "doubt";

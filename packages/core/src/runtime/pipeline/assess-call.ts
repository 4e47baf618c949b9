import type { ConfirmationDetails } from "../../model/confirmation.ts";
import type { Maybe } from "../../tool-definition.ts";
import type { Ending } from "../dispatch.ts";
import { assessPreview } from "../proposal/assess-preview.ts";
import { assessResolve } from "../proposal/assess-resolve.ts";
import { assessQuestion } from "../question/judge.ts";
import { type Assessed, type Assessing, assessRequest } from "./assess.ts";
import type { BatchRun, CallRun } from "./call-run.ts";
import { cwdOf, type Taken } from "./intake.ts";
import type { HookView } from "./rewrite.ts";

/** A call as it is judged. */
export type Viewed = Assessed & {
  /** What rules, grants and offers speak about, where that is not the request itself: the effect behind `resolve`, the reading behind a preview. */
  readonly subject?: Assessed | undefined;
  /** The call only stages what it would do. */
  readonly stages?: boolean | undefined;
  /** How it is asked about, where the tool itself does not say. */
  readonly asking?: Asking | undefined;
  /** Why it cannot go on, where no rule says so. */
  readonly refusal?: Ending | undefined;
};

/** What a person is shown, and what the model is told when there is no yes. */
export type Asking = {
  readonly details?: ConfirmationDetails;
  readonly unattended?: string | undefined;
  readonly rejected?: ((reason: string | undefined) => { readonly type: string; readonly text: string }) | undefined;
};

/** A call, and what hooks said about it. */
export type Judging = { readonly taken: Taken; readonly hook: HookView | undefined };

/** Judges a call as what it does: a preview reads, an apply is the effect of the tool that made the preview, everything else is what it is. */
export function assessCall(batch: BatchRun, run: CallRun, { taken, hook }: Judging): Maybe<Viewed> {
  const { definition } = taken.tool;
  const assessing = assessingOf(batch, run, { taken, hook });
  if (isResolve(batch, taken)) return assessResolve(batch, run, assessing);
  if (isAsk(batch, taken)) return assessQuestion(assessing);
  if (definition.preview === undefined) return assessRequest(assessing);
  return assessPreview(batch, assessing, taken);
}

/** True for the runtime's own `resolve`; a host may put a handler of its own in its place. */
export function isResolve({ deps }: BatchRun, { tool }: Pick<Taken, "tool">): boolean {
  return tool.definition.runtimeHandler === "resolve" && !Object.hasOwn(deps.handlers ?? {}, "resolve");
}

/** True for the runtime's own `ask`; a host may put a handler of its own in its place. */
export function isAsk({ deps }: Pick<BatchRun, "deps">, { tool }: Pick<Taken, "tool">): boolean {
  return tool.definition.runtimeHandler === "ask" && !Object.hasOwn(deps.handlers ?? {}, "ask");
}

/** What is needed to judge a call as it stands. */
export function assessingOf(batch: BatchRun, run: CallRun, { taken, hook }: Judging): Assessing {
  const { deps } = batch;
  return {
    tool: taken.tool,
    invocation: taken.invocation,
    cwd: cwdOf(deps.session),
    facts: deps.facts,
    policy: batch.policy,
    hook,
    digest: deps.digest,
    clock: deps.clock,
    unknown: unknownHere(deps),
    fingerprint: deps.session.ledger.durable || run.resumed,
  };
}

function unknownHere({ session, unknown }: BatchRun["deps"]): ReadonlySet<string> {
  const own = session.state.unknown;
  return unknown === undefined || unknown.size === 0 ? own : new Set([...own, ...unknown]);
}

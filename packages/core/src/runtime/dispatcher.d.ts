import type { Answer } from "../model/answer.ts";
import type { OpenApproval } from "../ports.ts";
import { type AnswerReport } from "./answer-approval.ts";
import type { Batch, BatchReport, DispatchEvent, DispatcherDeps } from "./dispatch.ts";
/** Judges, asks about, runs and records the calls of one session. */
export type Dispatcher = {
  /** Never rejects; one report per call, in call order. */
  readonly process: (batch: Batch, emit?: (event: DispatchEvent) => void) => Promise<BatchReport>;
  /** Puts in order what a crash left, then lets every open call go on from its recorded state. */
  readonly resume: (batch: Omit<Batch, "calls">, emit?: (event: DispatchEvent) => void) => Promise<BatchReport>;
  /** Answers an open approval. Rejects with `AnswerError`. */
  readonly answer: (answer: Answer) => Promise<AnswerReport>;
  /** Ends one call. False: there is no such open call. */
  readonly cancel: (callId: string) => boolean;
  /** The approvals shown in this process that wait. */
  readonly pending: () => readonly OpenApproval[];
  /** Set once an end could not be recorded: nothing more runs. */
  readonly failure: () => unknown;
};
/** A dispatcher for one opened session. */
export declare function createDispatcher(deps: DispatcherDeps): Dispatcher;

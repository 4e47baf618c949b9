import type { RunEnd } from "../loop/conversation.ts";

/** Turns that told of notices and did not come to a good end. */
export class DrainFailure extends Error {
  readonly end: RunEnd;
  constructor(end: RunEnd) {
    super(end.error?.message ?? `The turn of a notice ended: ${end.reason}.`);
    this.name = "DrainFailure";
    this.end = end;
  }
}

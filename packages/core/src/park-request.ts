/**
 * The abort reason that leaves a session for a later process: open approvals and questions keep waiting, and every other call of the batch is cancelled.
 *
 * `controller.abort(new ParkRequest())` on the signal of `process` or `resume`; a call that keeps waiting is reported as `waiting`.
 */
export class ParkRequest extends Error {
  constructor(message = "the program was told to stop") {
    super(message);
    this.name = "ParkRequest";
  }

  /** True if a signal was aborted with a `ParkRequest`. */
  static isReasonOf({ reason }: AbortSignal): boolean {
    return reason instanceof ParkRequest;
  }
}

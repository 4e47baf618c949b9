/** An error a body gets when its nested action was not run, with the outcome's type. */
export class GateError extends Error {
  readonly type: string;
  constructor(message: string, type: string) {
    super(message);
    this.name = "GateError";
    this.type = type;
  }
}

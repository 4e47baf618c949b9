export class HostError extends Error {
  readonly type: string;
  constructor(type: string, message: string) {
    super(message);
    this.name = "HostError";
    this.type = type;
  }
}

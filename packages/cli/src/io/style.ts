import type { Io, Output } from "./io.ts";

export type Style = {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
};

/** Uses color only on a terminal that supports it, and never with NO_COLOR. */
export function styleOf({ isTTY }: Pick<Output, "isTTY">, env: Io["env"]): Style {
  const coloured = isTTY && env["NO_COLOR"] === undefined && env["TERM"] !== "dumb";
  const attribute = (on: number, off: number) => (text: string) => (coloured && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text);
  return { bold: attribute(1, 22), dim: attribute(2, 22), red: attribute(31, 39), green: attribute(32, 39), yellow: attribute(33, 39) };
}

import type { Io } from "./io.ts";

/** Terminal attributes for stderr; each leaves the text alone where colour is not wanted. */
export type Style = {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
};

/** Colour only on a terminal that can show it, and never against NO_COLOR. */
export function stderrStyle({ stderr, env }: Pick<Io, "stderr" | "env">): Style {
  const coloured = stderr.isTTY && env["NO_COLOR"] === undefined && env["TERM"] !== "dumb";
  const attribute = (on: number, off: number) => (text: string) => (coloured && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text);
  return { bold: attribute(1, 22), dim: attribute(2, 22), red: attribute(31, 39), green: attribute(32, 39) };
}

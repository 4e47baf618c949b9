import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const demo: Command = {
  name: "demo",
  group: "run",
  summary: "watch a complete example run, offline, in a temporary directory",
  operands: [],
  options: COMMON.map((option) =>
    option.name === "store" ? { ...option, value: "DIR", help: "a new directory for its record (default: a temporary one)" } : option,
  ),
  examples: ["assent demo"],
  run: async (context) => (await import("../desk/demo/play.ts")).playDemo(context),
};

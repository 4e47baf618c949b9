import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";

export const version: Command = {
  name: "version",
  group: "help",
  looks: true,
  summary: "print the version",
  operands: [],
  options: COMMON,
  examples: ["assent version"],
  run: async ({ io, options }) => {
    const { VERSION } = await import("../version.ts");
    await io.stdout.write(options.flag("json") ? `${JSON.stringify({ version: VERSION })}\n` : `${VERSION}\n`);
    return 0;
  },
};

import { COMMON } from "../command-line/options.ts";
import type { Command } from "../command-line/spec.ts";
import { printJson } from "../io/output.ts";

export const completions: Command = {
  name: "completions",
  group: "maintain",
  looks: true,
  summary: "print a shell completion script",
  operands: [{ name: "SHELL", required: true, choices: ["bash", "zsh", "fish"] }],
  options: COMMON,
  examples: ["source <(assent completions bash)"],
  run: async ({ io, options, operands, commands }) => {
    const { completionScript } = await import("../command-line/completions.ts");
    const shell = operands[0] === "zsh" || operands[0] === "fish" ? operands[0] : "bash";
    const script = completionScript(shell, commands);
    if (options.flag("json")) await printJson(io, { shell, script });
    else await io.stdout.write(script);
    return 0;
  },
};

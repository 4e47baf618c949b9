import { completionScript } from "../command-line/completions.ts";
import type { Context } from "../command-line/spec.ts";
import { printJson } from "../io/output.ts";

/** Prints a completion script; the table has refused any other shell. */
export async function run({ io, options, operands, commands }: Context): Promise<number> {
  const shell = operands[0] === "zsh" || operands[0] === "fish" ? operands[0] : "bash";
  const script = completionScript(shell, commands);
  if (options.flag("json")) await printJson(io, { shell, script });
  else await io.stdout.write(script);
  return 0;
}

import type { Context } from "../command-line/spec.ts";
import { printJson } from "../io/output.ts";
import { VERSION } from "../version.ts";

/** Prints the version. */
export async function run({ io, options }: Context): Promise<number> {
  if (options.flag("json")) await printJson(io, { version: VERSION });
  else await io.stdout.write(`${VERSION}\n`);
  return 0;
}

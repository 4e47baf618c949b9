import type { Context } from "../../command-line/spec.ts";
import type { Output } from "../../io/io.ts";

/** Runs an `assent` command and resolves with its output. */
export async function captureCommand({ io, main, options }: Context, argv: readonly string[], columns: number): Promise<string> {
  let text = "";
  const output: Output = {
    isTTY: false,
    columns: () => columns,
    rows: () => undefined,
    write: async (more) => {
      text += more;
    },
  };
  const store = options.text("store");
  const all = store === undefined ? argv : [...argv, "--store", store];
  await main(all, { ...io, stdinIsTTY: false, stdout: output, stderr: output });
  return text.trimEnd();
}

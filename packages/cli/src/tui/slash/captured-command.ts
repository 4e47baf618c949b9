import type { Context } from "../../command-line/spec.ts";
import type { Output } from "../../io/io.ts";

export async function captureCommand(
  { io, main, options }: Context,
  argv: readonly string[],
  { columns, stdin }: { readonly columns: number; readonly stdin?: string },
): Promise<string> {
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
  const input = stdin === undefined ? {} : { readStdin: async () => new TextEncoder().encode(stdin) };
  await main(all, { ...io, ...input, stdinIsTTY: false, stdout: output, stderr: output });
  return text.trimEnd();
}

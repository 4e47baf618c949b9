import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Io, main, processIo } from "assent";
import { CODE_FLAGS } from "../support/code-flags.ts";

/** Arguments for Node that run a person who approves whatever waits, with the commands that people use, until standard input ends. */
export const APPROVER: readonly string[] = [...CODE_FLAGS, fileURLToPath(import.meta.url)];

const PAUSE_MS = 200;

if (import.meta.main) {
  let isOver = false;
  process.stdin.on("end", () => {
    isOver = true;
  });
  process.stdin.resume();
  const io = processIo();
  const run = async (argv: readonly string[]): Promise<{ readonly code: number; readonly text: string }> => {
    let text = "";
    const output: Io["stdout"] = {
      ...io.stdout,
      isTTY: false,
      write: async (written) => {
        text += written;
      },
    };
    return { code: await main(argv, { ...io, stdout: output, stdinIsTTY: false }), text };
  };
  while (!isOver) {
    const { code, text } = await run(["approvals", "--limit", "50", "--json"]);
    // The database may be away; what waits is still there later.
    const waiting: readonly { readonly id: string }[] = code === 0 ? JSON.parse(text) : [];
    for (const { id } of waiting) if ((await run(["approve", id, "--json"])).code === 0) process.stdout.write(`${id}\n`);
    if (waiting.length === 0) await wait(PAUSE_MS);
  }
  process.exit(0);
}

import { givenFlags } from "../call-flags.ts";
import { callPlace } from "../call-place.ts";
import type { Context } from "../command-spec.ts";
import { usageError } from "../failure.ts";
import { followPolicy } from "../follow-policy.ts";
import { beginRun, type RunLeft } from "../headless/run-session.ts";
import { withStore } from "../open-store.ts";
import { printContent, printJson } from "../output.ts";
import { storeFlag } from "../store-location.ts";
import { oneLine } from "../visible-text.ts";

const MOST_BYTES = 10 * 1024 * 1024;

/** One prompt, worked on until the model is done. stdout carries its last words and nothing else. */
export async function run(context: Context): Promise<number> {
  const prompt = await promptOf(context);
  const flags = givenFlags(context);
  const place = callPlace(context);
  const policy = await followPolicy(context, { workspace: place.workspace, flags });
  return withStore(context, async (store) => {
    const left = await beginRun(context, store, { prompt, flags, place, policy });
    await print(context, left);
    return left.exit;
  });
}

/** The argument, else stdin; both where both are given. */
async function promptOf({ io, operands }: Context): Promise<string> {
  const given = operands[0];
  const piped = io.stdinIsTTY ? "" : new TextDecoder().decode(await io.readStdin(MOST_BYTES + 1));
  if (piped.length > MOST_BYTES) throw usageError("run", "stdin has more than 10 MiB.");
  const prompt = [given, piped.trim() === "" ? undefined : piped].filter((part) => part !== undefined).join("\n\n");
  if (prompt.trim() === "") throw usageError("run", "no prompt. Give one as an argument or on stdin.");
  return prompt;
}

async function print(context: Context, { sessionId, end, exit, parked }: RunLeft): Promise<void> {
  const { io, options } = context;
  const { reason, text, error } = end;
  if (options.flag("json")) {
    const proposals = parked.map(({ id, label }) => ({ id, label }));
    await printJson(io, { sessionId, reason, exit, text, proposals, ...(error && { error }) });
    return;
  }
  if (text !== "" && !error) await printContent(io.stdout, text);
  if (error) await io.stderr.write(`assent: ${oneLine(error.message)}\n`);
  if (reason === "parked")
    await io.stderr.write(`Parked. See: assent approvals${storeFlag(context)}, then: assent resume ${sessionId}${storeFlag(context)}\n`);
}

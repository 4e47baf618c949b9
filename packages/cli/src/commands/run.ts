import { givenFlags } from "../call-flags.ts";
import { callPlace } from "../call-place.ts";
import { callPorts } from "../call-runtime.ts";
import type { Context } from "../command-spec.ts";
import { usageError } from "../failure.ts";
import { followPolicy } from "../follow-policy.ts";
import { printRun } from "../headless/print-run.ts";
import { runModel } from "../headless/run-model.ts";
import { beginRun } from "../headless/run-session.ts";
import { withStore } from "../open-store.ts";
import { stateDirectory } from "../store-location.ts";

const MOST_BYTES = 10 * 1024 * 1024;

/** One prompt, worked on until the model is done. stdout carries its last words and nothing else. */
export async function run(context: Context): Promise<number> {
  const prompt = await promptOf(context);
  const flags = givenFlags(context);
  const place = callPlace(context);
  const policy = await followPolicy(context, { workspace: place.workspace, flags });
  const { clock } = callPorts(context, await stateDirectory(context));
  const chosen = await runModel(context, context.options.text("model") ?? policy.source.settings().model, clock).catch((error: unknown) => {
    policy.source.close();
    throw error;
  });
  return withStore(context, async (store) => {
    const left = await beginRun(context, store, { prompt, flags, place, policy, chosen });
    await printRun(context, left);
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

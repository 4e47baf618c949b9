import { readSessionState } from "@assent/core";
import { createSystemClock } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { mergeResumedFlags, readOnAsk } from "../../compose/flags.ts";
import { followPolicy } from "../../compose/follow-policy.ts";
import type { Store } from "../../store/store.ts";
import { initMessage } from "../stream/init-message.ts";
import type { WireMessage } from "../stream/message.ts";
import { outputFor } from "../stream/output.ts";
import { resultMessage } from "../stream/result-message.ts";
import type { RunFlags } from "./flags.ts";
import { succeeded } from "./outcome.ts";
import { runTally } from "./tally.ts";

/** Prints the first line and the result of a resume that had nothing to do; nothing is recorded. */
export async function printNothingToResume(
  context: Context,
  store: Store,
  { id, run }: { readonly id: string; readonly run: RunFlags },
): Promise<void> {
  const init = await firstLine(context, store, id);
  const output = outputFor(run.output, context.io, { gone: () => undefined, unmade: () => undefined });
  const counted = runTally(context.overrides.clock ?? createSystemClock()).take();
  const facts = { session: id, seq: init.seq, counted, approvals: [], exit: 0 };
  output.show(() => [init.line, resultMessage(succeeded(""), facts)]);
  await output.end();
}

async function firstLine(context: Context, { ledger }: Store, id: string): Promise<{ readonly line: WireMessage; readonly seq: number }> {
  const { created, mode, model, seq } = await readSessionState(ledger, id);
  const flags = mergeResumedFlags(created?.options, context);
  const policy = await followPolicy(context, { workspace: created?.workspace ?? "", flags, ledger });
  const tools = policy.tools.visible().map(({ name }) => name);
  const agents = policy.agents.agents.flatMap(({ name, usable }) => (usable ? [name] : []));
  policy.source.close();
  const about = { session: id, seq, cwd: created?.cwd ?? "", model: model ?? "", mode: flags.mode ?? mode, pending: [], servers: [] };
  return { line: initMessage({ ...about, tools, agents, onAsk: readOnAsk(context) ?? "park", resumed: true }), seq };
}

import { resolve } from "node:path";
import { EXIT_OF, printCallEnd } from "../call-end.ts";
import { isDirectory } from "../call-place.ts";
import { type CallLeft, endedCall, resumeCall } from "../call-session.ts";
import type { Context } from "../command-spec.ts";
import { asFailure, CommandError, usageError } from "../failure.ts";
import { findRow } from "../find-row.ts";
import { type Store, withStoreIfAny } from "../open-store.ts";
import { printFailure, printJson } from "../output.ts";

/** Continues a session of `assent call`, or prints the recorded result of one that has ended. */
export async function run(context: Context): Promise<number> {
  const { io, options, operands } = context;
  return withStoreIfAny(context, async (store) => {
    const row = await findRow(store.ledger, "sessions", operands[0] ?? "");
    if (await isRun(store, row.id)) return await resumed(context, store, row.id);
    const left = (await alreadyEnded(store, row)) ?? (await goOn(context, store, row));
    if (left === undefined) {
      if (options.flag("json")) await printJson(io, { sessionId: row.id, callId: null, outcome: null, type: null, content: null });
      else await io.stdout.write("Nothing to resume.\n");
      return 0;
    }
    await printCallEnd(context, left.end);
    if (left.failure !== undefined) await printFailure(io, asFailure(left.failure), false);
    return left.exit;
  });
}

async function isRun({ ledger }: Store, id: string): Promise<boolean> {
  for await (const { body } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["session.created"] }))
    return body["door"] === "run";
  return false;
}

async function resumed(context: Context, store: Store, id: string): Promise<number> {
  const [{ resumeRun }, { printRun }] = await Promise.all([import("../headless/run-session.ts"), import("../headless/print-run.ts")]);
  const left = await resumeRun(context, store, { id, prompt: context.operands[1] });
  if (left === undefined) {
    if (context.options.flag("json")) await printJson(context.io, { sessionId: id, reason: null, exit: 0, text: "", proposals: [] });
    else await context.io.stderr.write("Nothing to resume.\n");
    return 0;
  }
  await printRun(context, left);
  return left.exit;
}

type Row = { readonly id: string; readonly cwd: string; readonly state: string };

async function alreadyEnded({ ledger }: Store, { id, state }: Row): Promise<CallLeft | undefined> {
  if (!["done", "failed", "cancelled"].includes(state)) return undefined;
  const proposals = await ledger.pending("proposals", { session: id, all: true, limit: 1_000 });
  if (proposals.some((row) => row.state === "applying" || row.requested)) return undefined; // something was cut short: it is put in order first
  const end = await endedCall(ledger, id);
  return typeof end === "string" ? undefined : { end, exit: EXIT_OF[end.outcome] };
}

function goOn(context: Context, store: Store, { id, cwd }: Row): Promise<CallLeft | undefined> {
  const given = context.options.text("cwd");
  const elsewhere = given === undefined ? undefined : resolve(context.io.cwd, given);
  if (elsewhere !== undefined && !isDirectory(elsewhere))
    throw usageError("resume", `option '--cwd' must name a directory; '${elsewhere}' is none.`);
  if (elsewhere === undefined && !isDirectory(cwd)) {
    throw new CommandError("cwd_missing", 1, {
      message: `The directory of this session is gone: ${cwd}`,
      hint: `assent resume ${id} --cwd DIR continues in another one; what waits is asked again there`,
    });
  }
  return resumeCall(context, store, { id, ...(elsewhere !== undefined && { cwd: elsewhere }) });
}

import { resolve } from "node:path";
import { ModelError, resolveModel } from "@assent/agent";
import type { JsonObject } from "@assent/core";
import { createSystemClock, httpFetch as fetch } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { resolveRunModel } from "../../compose/model.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import type { Store } from "../../store/store.ts";
import { readLabelOptions } from "../../worker/label-options.ts";
import { listWorkers } from "../../worker/registered-workers.ts";
import { startText, whyNoWorker } from "../../worker/requirements.ts";
import { createRunSession } from "./create-session.ts";
import type { RunFlags } from "./flags.ts";
import type { NewRun } from "./session.ts";

export function refuseAttachedOptions({ input, output }: RunFlags): void {
  if (input === "stream-json") throw usageError("run", "options '--detach' and '--input-format stream-json' cannot be used together.");
  if (output === "stream-json") throw usageError("run", "options '--detach' and '--output-format stream-json' cannot be used together.");
}

export async function detachedModel(context: Context, given: string | undefined): Promise<string> {
  const { io } = context;
  if (given === undefined)
    throw new CommandError("unknown_model", 2, {
      message: "No model is configured. A detached run needs one: use --model provider:name, or set one in your settings.",
    });
  if (given.startsWith("script:")) {
    await resolveRunModel(context, given, createSystemClock());
    return `script:${resolve(io.cwd, given.slice("script:".length))}`;
  }
  await resolveModel(given, { environment: io.env, fetch }).catch((error: unknown) => {
    if (!(error instanceof ModelError)) throw error;
    if (error.type !== "provider_auth") throw new CommandError(error.type, 2, { message: error.message, hint: error.hint });
  });
  return given;
}

/** Records a run for a worker. Prints its session once that is saved. */
export async function detachRun(context: Context, store: Store, run: Omit<NewRun, "chosen"> & { readonly model: string }): Promise<number> {
  const { io, options } = context;
  const { prompt = "", run: flags } = run;
  const { maxTurns, maxToolCalls, maxTimeMs, approvalTimeoutMs } = flags;
  const ports = hostPortsFor(context, store.directory);
  const labels = readLabelOptions(context, "run");
  const detached: JsonObject = {
    ...{ prompt, labels, schedules: flags.schedules.map((entry) => ({ ...entry })) as JsonObject[] },
    ...numbers({ maxTurns, maxToolCalls, maxTimeMs, approvalTimeoutMs }),
  };
  const session = await createRunSession(context, { ledger: store.ledger, ...ports }, { ...run, more: { detached } });
  await session.close("queued", 0);
  if (flags.output === "json") await printJson(io, { sessionId: session.id });
  else await io.stdout.write(`${session.id}\n`);
  const needs = { workspace: run.place.workspace, labels };
  const why = whyNoWorker(await listWorkers(store.ledger), needs);
  if (why !== undefined && !options.flag("quiet")) await io.stderr.write(`The run is queued, but ${why}. ${startText(context, needs)}\n`);
  return 0;
}

function numbers(given: Readonly<Record<string, number | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, number] => entry[1] !== undefined));
}

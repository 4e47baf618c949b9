import { readRow } from "@assent/core";
import { createRandomIds } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { readFlags } from "../../compose/flags.ts";
import { followPolicy, type PolicyRequest } from "../../compose/follow-policy.ts";
import { resolveRunModel } from "../../compose/model.ts";
import { readPlace } from "../../compose/place.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { usageError } from "../../io/failure.ts";
import { stateDirectory } from "../../store/location.ts";
import { hasRecord, withStore } from "../../store/open.ts";
import type { Store } from "../../store/store.ts";
import { type RunFlags, runFlags, silenceStderr } from "./flags.ts";
import { beginRun, type NewRun, resumeRun } from "./session.ts";

/** `assent run`: works on a prompt until the model is done. stdout gets only the chosen format. */
export async function runPrompt(given: Context): Promise<number> {
  const context = silenceStderr(given);
  const flags = await runFlags(context, "run");
  const isWatching = context.options.flag("watch");
  if (isWatching) refuseUnwatchable(context, flags);
  const id = chosenId(context) ?? (isWatching ? createRandomIds().next("s_") : undefined);
  const prompt = flags.input === "text" ? await readPrompt(context) : context.operands[0];
  if (flags.input === "text" && prompt === undefined)
    throw usageError("run", "the prompt is missing. Give one as an argument or on stdin.");
  const judging = readFlags(context);
  const place = readPlace(context, "run");
  if (context.options.flag("detach")) return await submitRun(context, { prompt, id, flags: judging, run: flags, place });
  if (context.options.list("label").length > 0) throw usageError("run", "option '--label' needs '--detach'.");
  const begin = async (store: Store, { policy, chosen }: PolicyAndModel): Promise<number> => {
    if (id !== undefined && (await readRow(store.ledger, "sessions", id))) {
      policy.source.close(); // the session also follows the flags it began with
      return (await resumeRun(context, store, { id, prompt, run: flags })) ?? 0;
    }
    return await beginRun(context, store, { prompt, id, flags: judging, run: flags, place, policy, chosen });
  };
  const beginAndWatch = async (store: Store, ready: PolicyAndModel): Promise<number> => {
    const exit = await begin(store, ready);
    if (!isWatching || id === undefined) return exit;
    const again = async (): Promise<number> => (await resumeRun(context, store, { id, prompt: undefined, run: flags })) ?? 0;
    return await (await import("./watch.ts")).continueWhileParked(context, store, { id, exit, again });
  };
  const following = { workspace: place.workspace, flags: judging };
  if (hasRecord(context, await stateDirectory(context)))
    return withStore(context, async (store) =>
      beginAndWatch(store, await openPolicyAndModel(context, { ...following, ledger: store.ledger })),
    );
  const ready = await openPolicyAndModel(context, following);
  return withStore(context, (store) => beginAndWatch(store, ready));
}

function refuseUnwatchable({ options }: Context, { input }: RunFlags): void {
  if (options.text("on-ask") !== "park")
    throw usageError("run", "option '--watch' needs '--on-ask park': only a parked call waits for an answer.");
  if (input !== "text") throw usageError("run", "options '--watch' and '--input-format stream-json' cannot be used together.");
  if (options.flag("detach")) throw usageError("run", "options '--watch' and '--detach' cannot be used together.");
}

async function submitRun(context: Context, run: Omit<NewRun, "policy" | "chosen">): Promise<number> {
  const { detachedModel, detachRun, refuseAttachedOptions } = await import("./detach.ts");
  refuseAttachedOptions(run.run);
  return withStore(context, async (store) => {
    if (run.id !== undefined && (await readRow(store.ledger, "sessions", run.id)))
      throw usageError("run", `option '--detach' needs a new session, but '${run.id}' exists. Continue it with: assent resume ${run.id}`);
    const policy = await followPolicy(context, { workspace: run.place.workspace, flags: run.flags, ledger: store.ledger });
    try {
      const model = await detachedModel(context, context.options.text("model") ?? policy.source.settings().model);
      return await detachRun(context, store, { ...run, policy, model });
    } finally {
      policy.source.close();
    }
  });
}

type PolicyAndModel = Pick<NewRun, "policy" | "chosen">;

/** Opens policy and model before a store is created. */
async function openPolicyAndModel(context: Context, following: PolicyRequest): Promise<PolicyAndModel> {
  const policy = await followPolicy(context, following);
  try {
    const { clock } = hostPortsFor(context, await stateDirectory(context));
    return { policy, chosen: await resolveRunModel(context, context.options.text("model") ?? policy.source.settings().model, clock) };
  } catch (error) {
    policy.source.close();
    throw error;
  }
}

const SESSION_ID = /^(?:s_[a-z2-7]{8,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

function chosenId({ options }: Context): string | undefined {
  const id = options.text("session")?.toLowerCase();
  if (id !== undefined && !SESSION_ID.test(id)) throw usageError("run", `option '--session' must be a session id or a UUID, not '${id}'.`);
  return id;
}

const MOST_BYTES = 10 * 1024 * 1024;

export async function readPrompt({ io, operands }: Context): Promise<string | undefined> {
  const given = operands[0];
  const piped = io.stdinIsTTY ? new Uint8Array() : await io.readStdin(MOST_BYTES);
  if (piped.length > MOST_BYTES) throw usageError("run", "stdin has more than 10 MiB.");
  const text = new TextDecoder().decode(piped);
  const prompt = [given, text.trim() === "" ? undefined : text].filter((part) => part !== undefined).join("\n\n");
  return prompt.trim() === "" ? undefined : prompt;
}

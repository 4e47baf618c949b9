import { estimateCost } from "@assent/agent";
import { type Ids, type JsonObject, openSession, type Session, type SessionPorts } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { type CallFlags, flagsForRecord, readOnAsk } from "../../compose/flags.ts";
import type { FollowedPolicy } from "../../compose/follow-policy.ts";
import { commandHolder } from "../../compose/keep-alive.ts";
import type { WorkPlace } from "../../compose/place.ts";
import { titleFrom } from "../../compose/redaction.ts";
import { CommandError } from "../../io/failure.ts";
import { VERSION } from "../../version.ts";

export type RunToCreate = {
  readonly policy: FollowedPolicy;
  readonly place: WorkPlace;
  readonly flags: CallFlags;
  readonly prompt: string | undefined;
  /** The id of the new session, if it is chosen. */
  readonly id: string | undefined;
  readonly model: string;
  /** Further options to record. */
  readonly more: JsonObject;
};

export async function createRunSession(context: Context, ports: SessionPorts, run: RunToCreate): Promise<Session> {
  const { policy, place, flags, prompt, id, model, more } = run;
  refuseUnpriced(policy, model);
  const { mode, revision } = policy.source.current();
  const title = titleFrom(prompt ?? "", policy.source.settings());
  const options = { ...flagsForRecord(flags, readOnAsk(context)), command: "run", model, ...more };
  return await openSession(
    { ...ports, ids: id === undefined ? ports.ids : namedFirst(ports.ids, id) },
    {
      holder: commandHolder(context, "run"),
      create: { ...place, door: "run", mode, model, version: VERSION, policy: revision, title, options },
    },
  );
}

function namedFirst(ids: Ids, id: string): Ids {
  let given = false;
  return {
    next: (prefix) => {
      if (given || prefix !== "s_") return ids.next(prefix);
      given = true;
      return id;
    },
  };
}

/** Refuses a cost limit for a model without a known price. */
function refuseUnpriced(policy: FollowedPolicy, model: string): void {
  const { maxCostUsd } = policy.source.settings();
  if (maxCostUsd === undefined || estimateCost(model, { inputTokens: 0, outputTokens: 0 }) !== undefined) return;
  throw new CommandError("limit_cost", 2, {
    message: `The price of ${model} is unknown, so maxCostUsd (${maxCostUsd}) cannot be enforced.`,
    hint: "Choose a listed model, or remove maxCostUsd from your settings.",
  });
}

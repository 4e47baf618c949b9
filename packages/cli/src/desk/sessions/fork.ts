import { type EventBodies, type Ledger, openSession, readRow, type SessionPorts } from "@assent/core";
import { currentHolder } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { hostPortsFor } from "../../compose/ports.ts";

import { CommandError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { findRow } from "../../store/find-row.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { VERSION } from "../../version.ts";
import { type ForkableConversation, type ForkPlace, findForkPlaces } from "./fork-place.ts";

/** Continues a conversation from `at`, or from its last finished turn. Open approvals stay in the original. */
export async function forkSession(
  ports: SessionPorts,
  { id, at }: { readonly id: string; readonly at: number | undefined },
): Promise<string> {
  const { ledger } = ports;
  const conversation = await findForkPlaces(ledger, id, at);
  if (!conversation) throw new CommandError("session_not_found", 4, { message: `There is no session '${id}'.`, hint: "assent sessions" });
  const { created, finished } = conversation;
  const place = at === undefined ? (finished ?? inheritedPlace(conversation)) : requestedPlace(conversation, at);
  if (!place) throw nothingSaid(id);
  const forked = finished === undefined && at === undefined && created.forked ? created.forked : { session: id, seq: place.seq };
  const session = await openSession(ports, {
    holder: currentHolder("fork"),
    create: { ...copyCreation(created), model: place.model, forked },
  });
  if (place.mode !== created.mode)
    await session.record([session.draft("mode.changed", { from: created.mode, to: place.mode, by: "fork" })], "normal");
  await session.close(place.isDone ? "done" : "limit", 0);
  await refuseIfPruned(ledger, forked);
  return session.id;
}

function inheritedPlace({ created: { forked, mode, model }, head }: ForkableConversation): ForkPlace | undefined {
  return forked && { seq: head, mode, model, isDone: true };
}

function requestedPlace({ head, at, cuts }: ForkableConversation, seq: number): ForkPlace | undefined {
  if (seq > head)
    throw new CommandError("bad_place", 2, {
      message: `There is no event ${seq} in this session; its last is ${head}.`,
      hint: "assent log SESSION",
    });
  if (!cuts) return at;
  const next = cuts.until === null ? "" : ` or --at ${cuts.until}, after the last of them`;
  throw new CommandError("bad_place", 2, {
    message: `${seq} is between a call and its result; a conversation cannot be forked there.`,
    hint: `Use --at ${cuts.from - 1}, before the answer with the calls${next}.`,
  });
}

function nothingSaid(id: string): CommandError {
  const hint = `assent log ${id} lists its events; choose a point with --at SEQ.`;
  return new CommandError("nothing_to_fork", 1, { message: "There is no finished turn to fork from.", hint });
}

function copyCreation(created: EventBodies["session.created"]): EventBodies["session.created"] {
  const { cwd, workspace, door, mode, model, policy, title, options } = created;
  return { cwd, workspace, door, mode, model, policy, title, version: VERSION, parent: null, agent: null, ...(options && { options }) };
}

/** Only a recorded fork protects the original from being pruned. */
async function refuseIfPruned(ledger: Ledger, { session }: NonNullable<EventBodies["session.created"]["forked"]>): Promise<void> {
  if (await readRow(ledger, "sessions", session)) return;
  throw new CommandError("session_not_found", 4, {
    message: `The session '${session}' was removed in the meantime.`,
    hint: "assent sessions",
  });
}

export function forkCommand(context: Context): Promise<number> {
  const { io, options, operands } = context;
  return withStoreIfAny(context, async ({ ledger, directory }) => {
    const origin = await findRow(ledger, "sessions", operands[0] ?? "");
    const id = await forkSession({ ledger, ...hostPortsFor(context, directory) }, { id: origin.id, at: options.count("at") });
    if (options.flag("json")) {
      await printJson(io, { id });
    } else {
      await io.stdout.write(`${id}\n`);
      await io.stderr.write(`Continue with: assent resume ${id} PROMPT${storeFlag(context)}\n`);
    }
    return 0;
  });
}

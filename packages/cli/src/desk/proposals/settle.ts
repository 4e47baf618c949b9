import {
  type By,
  createDispatcher,
  type EventBodies,
  type Ledger,
  LedgerError,
  openSession,
  type ProposalPart,
  type ProposalReport,
  type ProposalRow,
  parseEvent,
  type Session,
  type StoredEvent,
} from "@assent/core";
import { createHostFileChanges, type HostPorts } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { mergeResumedFlags, NO_OPTIONS } from "../../compose/flags.ts";
import { followPolicy } from "../../compose/follow-policy.ts";
import { commandHolder, reopenDuring, withTimer } from "../../compose/keep-alive.ts";
import { hostPortsFor } from "../../compose/ports.ts";
import { openSessionModes } from "../../compose/session-modes.ts";
import { CommandError } from "../../io/failure.ts";
import { warn } from "../../io/output.ts";
import { personBy } from "../../io/who.ts";
import type { Store } from "../../store/store.ts";

export type ProposalAction = {
  readonly row: ProposalRow;
  readonly action: "apply" | "discard" | "undo";
  /** For `apply`: only this part. */
  readonly part?: ProposalPart | undefined;
  /** Who decides, and why; by default the person at this command and its option `--reason`. */
  readonly by?: By;
  readonly reason?: string;
};

/** `asked`: another process has the session open and `--no-wait` was given. */
export type SettleResult = { readonly by: By; readonly report: ProposalReport | "asked" };

const LOOK_MS = 1_000;

/** Asks the process that has the session open; without one, opens the session itself. */
export async function settleProposal(context: Context, store: Store, given: ProposalAction): Promise<SettleResult> {
  const { row, reason = context.options.text("reason") ?? "" } = given;
  const ports = hostPortsFor(context, store.directory);
  const by = given.by ?? personBy({ name: context.options.text("by"), door: "command" });
  const wanted: RequestedAction = { ...given, by, reason };
  return await withTimer(async () => {
    const session = await takeSession(context, { store, ports }, row);
    return {
      by,
      report: session ? await settleHere(context, { session, ports, store }, wanted) : await askHolder(context, { store, ports }, wanted),
    };
  });
}

/** Undefined if a live process has the session. */
async function takeSession(
  context: Context,
  { store: { ledger }, ports }: StorePorts,
  { session: id }: ProposalRow,
): Promise<Session | undefined> {
  try {
    const holder = commandHolder(context, "command");
    return await openSession({ ledger, ...ports }, { holder, id });
  } catch (error) {
    if (error instanceof LedgerError && error.type === "session_in_use") return undefined;
    throw error;
  }
}

function settleHere(context: Context, held: HeldProposalSession, wanted: RequestedAction): Promise<ProposalReport> {
  return reopenDuring(held.session, () => actOnProposal(context, held, wanted));
}

type StorePorts = { readonly store: Store; readonly ports: HostPorts };

/** If the other process ends first, this one settles the proposal. */
async function askHolder(context: Context, { store, ports }: StorePorts, wanted: RequestedAction): Promise<ProposalReport | "asked"> {
  const { row, action, by, reason, part } = wanted;
  const { ledger } = store;
  const { id, session: of, digest } = row;
  const from = await ledger.head();
  const at = new Date(ports.clock.now()).toISOString();
  const body = { proposal: id, session: of, action, digest, reason: reason === "" ? null : reason, by, ...(part && { part }) };
  await ledger.answer([{ type: "proposal.requested", v: 1, at, body }]);
  if (context.options.flag("no-wait")) return "asked";
  for (;;) {
    const outcome = await awaitHolder(ledger, wanted, from);
    if (outcome) return outcome;
    const session = await takeSession(context, { store, ports }, row);
    if (session) return await settleHere(context, { session, ports, store }, wanted);
  }
}

type HeldProposalSession = StorePorts & { readonly session: Session };
type RequestedAction = ProposalAction & { readonly by: By; readonly reason: string };

async function actOnProposal(
  context: Context,
  { session, ports, store }: HeldProposalSession,
  { row, action, by, reason, part }: RequestedAction,
): Promise<ProposalReport> {
  const { created } = session.state;
  const flags = mergeResumedFlags(created?.options, { io: context.io, options: NO_OPTIONS });
  const policy = await followPolicy(context, { workspace: created?.workspace ?? row.cwd, flags, ledger: store.ledger });
  const modes = await openSessionModes(context, { session, ports, policy }, by.name);
  const dispatcher = createDispatcher({
    session,
    ...ports,
    changes: createHostFileChanges(),
    policy: modes,
    rules: policy.rules,
    facts: policy.facts,
    tools: policy.tools,
    by,
    onAsk: "deny",
    warn: (message) => void warn(context.io, message),
  });
  try {
    return await dispatcher.proposals[action](row.id, by, reason, part);
  } finally {
    dispatcher.close();
    modes.close();
    policy.source.close();
  }
}

/** Undefined if the other process ended or does not answer. */
function awaitHolder(ledger: Ledger, { row, action, part }: ProposalAction, from: number): Promise<ProposalReport | undefined> {
  return new Promise((resolve, reject) => {
    const end = (report: ProposalReport | undefined): void => {
      clearTimeout(look);
      subscription.close();
      resolve(report);
    };
    const look = setTimeout(() => end(undefined), LOOK_MS);
    const onEvent = (stored: StoredEvent): void => {
      const event = parseEvent(stored);
      if (event?.type === "session.closed") queueMicrotask(() => end(undefined));
      const done =
        event && "proposal" in event.body && event.body.proposal === row.id
          ? outcome(event.type, event.body, part ? "part" : action)
          : undefined;
      if (done) queueMicrotask(() => end({ id: row.id, ...done }));
    };
    const subscription = ledger.subscribe({ pos: from }, { session: row.session }, onEvent, (error) => {
      clearTimeout(look);
      reject(error);
    });
  });
}

function outcome(type: string, body: object, action: ProposalAction["action"] | "part"): Omit<ProposalReport, "id"> | undefined {
  switch (type) {
    case "proposal.applied":
      return action === "apply" ? { state: "applied", ok: true, type: "applied", text: "Applied." } : undefined;
    case "proposal.superseded":
      return action === "part" ? { state: "superseded", ok: true, type: "applied", text: "Applied." } : undefined;
    case "proposal.discarded":
      return { state: "discarded", ok: action === "discard", type: "discarded", text: "Discarded." };
    case "proposal.undone":
      return { state: "undone", ok: action === "undo", type: "undone", text: "Undone." };
    case "proposal.stale":
      return { state: "stale", ok: false, type: "proposal_stale", text: "Files changed since the preview. Nothing was written." };
    case "proposal.unknown":
      return { state: "unknown", ok: false, type: "apply_unknown", text: String(Reflect.get(body, "message")) };
    case "proposal.apply_failed":
    case "proposal.refused": {
      // Both bodies have a type and a message.
      const { type: why, message } = body as EventBodies["proposal.refused"];
      return { state: null, ok: false, type: why, text: message };
    }
    default:
      return undefined;
  }
}

export function proposalRefusal({ type, text }: ProposalReport): CommandError {
  return new CommandError(type, type === "proposal_not_found" ? 4 : 1, { message: text });
}

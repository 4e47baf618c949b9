import {
  type By,
  createDispatcher,
  type EventBodies,
  knownEvent,
  type Ledger,
  LedgerError,
  openSession,
  type ProposalReport,
  type ProposalRow,
  type Session,
} from "@assent/core";
import { currentUser, type HostPorts, hostFileChanges, thisHolder } from "@assent/host";
import { resumedFlags } from "./call-flags.ts";
import { callPorts } from "./call-runtime.ts";
import type { Context } from "./command-spec.ts";
import { CommandError } from "./failure.ts";
import { followPolicy } from "./follow-policy.ts";
import type { Store } from "./open-store.ts";
import { warn } from "./output.ts";
import { NO_OPTIONS } from "./recorded-requests.ts";
import { personBy } from "./who.ts";

/** What a person wants done with a proposal. */
export type Settling = { readonly row: ProposalRow; readonly action: "apply" | "discard" | "undo" };

/** How it came out; `asked`: another process holds the session and was not waited for. */
export type Settled = { readonly by: By; readonly report: ProposalReport | "asked" };

/**
 * Settles a proposal for a person. A process that holds the session is asked to do it, and is waited for; where nobody does, this one takes the session
 * for as long as it takes.
 */
export async function settleProposal(context: Context, store: Store, { row, action }: Settling): Promise<Settled> {
  const ports = callPorts(context, store.directory);
  const by = personBy(currentUser().user, { name: context.options.text("by"), door: "command" });
  const reason = context.options.text("reason") ?? "";
  const session = await takeSession(store.ledger, ports, row);
  if (!session) return { by, report: await askHolder(context, store, { row, action, by, reason, ports }) };
  const before = session.state.closed;
  const alive = setInterval(() => undefined, LONGEST_MS); // timers of the runtime do not keep a process alive
  try {
    return { by, report: await act(context, { session, ports, store }, { row, action, by, reason }) };
  } finally {
    clearInterval(alive);
    if (before) await session.close(before.reason, before.exit); // as it was left
  }
}

const LONGEST_MS = 2 ** 30;

/** Undefined: a live process has it. */
async function takeSession(ledger: Ledger, ports: HostPorts, { session: id }: ProposalRow): Promise<Session | undefined> {
  try {
    return await openSession({ ledger, ...ports }, { holder: thisHolder("command"), id });
  } catch (error) {
    if (error instanceof LedgerError && error.type === "session_in_use") return undefined;
    throw error;
  }
}

type Held = { readonly session: Session; readonly ports: HostPorts; readonly store: Store };
type Wanted = Settling & { readonly by: By; readonly reason: string };

async function act(context: Context, { session, ports, store }: Held, { row, action, by, reason }: Wanted): Promise<ProposalReport> {
  const { created } = session.state;
  const flags = resumedFlags(created?.options, { io: context.io, options: NO_OPTIONS });
  const policy = await followPolicy(context, { workspace: created?.workspace ?? row.cwd, flags, ledger: store.ledger });
  const dispatcher = createDispatcher({
    session,
    ...ports,
    changes: hostFileChanges(),
    policy: policy.source,
    rules: policy.rules,
    facts: policy.facts,
    tools: policy.tools,
    by,
    onAsk: "deny",
    warn: (message) => void warn(context.io, message),
  });
  try {
    return await dispatcher.proposals[action](row.id, by, reason);
  } finally {
    dispatcher.close();
    policy.source.close();
  }
}

type Asked = Wanted & { readonly ports: HostPorts };

/** Puts the wish on the shared chain and waits for what its holder records about it. */
async function askHolder(
  context: Context,
  { ledger }: Store,
  { row, action, by, reason, ports }: Asked,
): Promise<ProposalReport | "asked"> {
  const { id, session, digest } = row;
  const at = new Date(ports.clock.now()).toISOString();
  const from = await ledger.head();
  const body = { proposal: id, session, action, digest, reason: reason === "" ? null : reason, by };
  await ledger.answer([{ type: "proposal.requested", v: 1, at, body }]);
  return context.options.flag("no-wait") ? "asked" : await holderDid(ledger, { row, action, from });
}

type Waiting = Settling & { readonly from: number };

function holderDid(ledger: Ledger, { row, action, from }: Waiting): Promise<ProposalReport> {
  return new Promise((resolve) => {
    const alive = setInterval(() => undefined, LONGEST_MS);
    const subscription = ledger.subscribe({ pos: from }, { session: row.session }, (stored) => {
      const event = knownEvent(stored);
      const done =
        event && "proposal" in event.body && event.body.proposal === row.id ? outcome(event.type, event.body, action) : undefined;
      if (!done) return;
      clearInterval(alive);
      subscription.close();
      resolve({ id: row.id, ...done });
    });
  });
}

type Told = Omit<ProposalReport, "id">;

function outcome(type: string, body: object, action: Settling["action"]): Told | undefined {
  switch (type) {
    case "proposal.applied":
      return action === "apply" ? { state: "applied", ok: true, type: "applied", text: "Applied." } : undefined;
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
      // Parsing: both bodies carry a type and a message.
      const { type: why, message } = body as EventBodies["proposal.refused"];
      return { state: null, ok: false, type: why, text: message };
    }
    default:
      return undefined;
  }
}

/** A report that is no success, as the command's failure. */
export function refusedProposal({ type, text }: ProposalReport): CommandError {
  return new CommandError(type, type === "proposal_not_found" ? 4 : 1, { message: text });
}

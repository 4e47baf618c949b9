import {
  canonicalJson,
  createDispatcher,
  type Dispatcher,
  type DispatcherDeps,
  followCancelRequests,
  isAsked,
  openSession,
  readCallRecord,
  readSessionState,
  type Session,
  type Subscription,
} from "@assent/core";
import { createUnknownOutcomes } from "@assent/core/parts";
import { callKey, idsWithPrefix } from "@assent/guard";
import type { HostPorts } from "@assent/host";
import type { ClientInFront, ConfiguredServer } from "@assent/mcp";
import type { ConnectedClient } from "@assent/mcp/gateway";
import type { Context } from "../command-line/spec.ts";
import { commonDeps } from "../compose/dispatcher.ts";
import { type CallFlags, flagsForRecord } from "../compose/flags.ts";
import type { FollowedPolicy } from "../compose/follow-policy.ts";
import { createHooks } from "../compose/hook-runner.ts";
import { commandHolder } from "../compose/keep-alive.ts";
import type { WorkPlace } from "../compose/place.ts";
import { cut } from "../io/display-width.ts";
import { ignoreHeld } from "../io/failure.ts";
import { oneLine } from "../io/visible-text.ts";
import { personBy } from "../io/who.ts";
import type { Store } from "../store/store.ts";
import { VERSION } from "../version.ts";
import { gatewayClient } from "./group.ts";

/** What the connection of one client needs. */
export type GatewayParts = {
  readonly store: Store;
  readonly ports: HostPorts;
  readonly place: WorkPlace;
  readonly flags: CallFlags;
  readonly servers: readonly ConfiguredServer[];
  /** How long a call that waits for approval is held. */
  readonly holdMs: number;
  readonly client: ConnectedClient;
  readonly inFront: ClientInFront;
};

/** A dispatcher that works on one call at a time; a connection has as many as it has calls at once. */
export type Lane = { readonly session: Session; readonly dispatcher: Dispatcher; readonly close: () => Promise<void> };

/** Asks about the call of a lane. */
export type LaneApprover = (lane: Lane) => NonNullable<DispatcherDeps["approver"]>;

/** A call that waits for approval, or was approved and did not run yet. */
export type OpenCall = { readonly session: string; readonly callId: string; readonly approval: string | null };

/** Where the calls of a client are recorded. */
export type CallRecord = {
  /** A free lane of the connection's session. Give it back after the call. */
  readonly takeLane: () => Promise<Lane>;
  readonly giveBack: (lane: Lane) => Promise<void>;
  /** A lane in an earlier session of the same client. Undefined: another process has it open. */
  readonly openLane: (session: string) => Promise<Lane | undefined>;
  readonly isOwn: (session: string) => boolean;
  /** Calls of this client that wait for approval, from this and from earlier connections. */
  readonly openCalls: () => Promise<readonly OpenCall[]>;
  readonly close: () => Promise<void>;
};

export type RecordParts = GatewayParts & { readonly policy: FollowedPolicy; readonly approver: LaneApprover };

/** Identifies what a client asked for: the tool and the arguments as they were sent. */
export function requestKey(tool: string, input: unknown): string {
  return canonicalJson({ tool, input: input ?? null } as Parameters<typeof canonicalJson>[0]);
}

/** The key of a recorded call. */
export async function recordedKey(ledger: Session["ledger"], { session, callId }: OpenCall): Promise<string> {
  const { "call.proposed": proposed } = await readCallRecord(ledger, session, callId);
  return requestKey(proposed?.tool ?? "", proposed?.raw);
}

/** Nothing is recorded before the first call. */
export function createCallRecord(context: Context, parts: RecordParts): CallRecord {
  const { ports, client, servers, place, policy } = parts;
  const { ledger } = parts.store;
  const holder = commandHolder(context, "mcp serve");
  const names = servers.map(({ name }) => name);
  const group = { client: gatewayClient(client.name), title: `${client.title} through the gateway`, id: ports.ids.next("").slice(0, 12) };
  const { group: prefix } = callKey(ports.digest, { client: group.client, id: JSON.stringify([place.workspace, names]) }, {});
  const unknown = createUnknownOutcomes();
  const idle: Lane[] = [];
  const lanes: Lane[] = [];
  let opened: Promise<Session> | undefined;
  let earlier: string[] = [];
  let following: Subscription | undefined;

  const makeLane = (session: Session): Lane => {
    const hooks = createHooks(context, { session, ports, policy });
    const { changes: _noProposals, ...common } = commonDeps(context, { session, ports, policy, unknown: unknown.fingerprints });
    const by = personBy({ name: client.title, door: "mcp" });
    const lane: Lane = {
      session,
      dispatcher: createDispatcher({
        ...{ ...common, hooks, by, onAsk: "park", policy: policy.source },
        approver: { available: () => true, ask: (approval, signal) => parts.approver(lane).ask(approval, signal) },
      }),
      close: () => hooks.idle().then(() => lane.dispatcher.close()),
    };
    return lane;
  };
  const begin = async (): Promise<Session> => {
    const rows = await ledger.pending("sessions", { prefix });
    for (const { id, state } of rows) if (state === "interrupted") await settleKilled(id);
    earlier = rows.map(({ id }) => id);
    const { mode, revision } = policy.source.current();
    const create = {
      ...{ ...place, door: "mcp serve", mode, version: VERSION, policy: revision, group, options: flagsForRecord(parts.flags, undefined) },
      title: cut(oneLine(names.join(", ")), 80),
    };
    const session = await openSession({ ledger, ...ports, ids: idsWithPrefix(ports.ids, prefix) }, { holder, create });
    unknown.attend(session);
    policy.serve(session.id);
    following = followCancelRequests(ledger, session.id, () => undefined); // its calls share it, instead of opening one each
    return session;
  };
  const current = (): Promise<Session> => {
    opened ??= begin();
    return opened;
  };
  const openEarlier = (id: string): Promise<Session | undefined> =>
    openSession({ ledger, ...ports }, { holder, id, runElsewhere: true }).catch(ignoreHeld);
  /** Ends what a killed gateway left: what ran is unknown, what was not asked about never ran. What waits stays. */
  const settleKilled = async (id: string): Promise<void> => {
    const session = await openEarlier(id);
    if (!session) return;
    const lane = makeLane(session);
    const left = [...session.state.calls.values()].filter((call) => !(isAsked(call) && call.index >= 0));
    await lane.dispatcher.resume({ tools: policy.tools, signal: AbortSignal.abort(), only: new Set(left.map(({ callId }) => callId)) });
    unknown.attend(session);
    await closeLane(lane);
  };
  /** Closes an earlier session, or the own one, with what still waits in it. */
  const closeLane = async (lane: Lane): Promise<void> => {
    await lane.close();
    const waits = [...lane.session.state.calls.values()].some(isAsked);
    await lane.session.close(waits ? "parked" : "done", waits ? 75 : 0);
    if (!waits) earlier = earlier.filter((id) => id !== lane.session.id);
  };
  return {
    takeLane: async () => {
      const session = await current();
      const free = idle.pop();
      if (free) return free;
      const lane = makeLane(session);
      lanes.push(lane);
      return lane;
    },
    giveBack: async (lane) => {
      if (lanes.includes(lane)) idle.push(lane);
      else await closeLane(lane);
    },
    openLane: async (id) => {
      const session = await openEarlier(id);
      return session && makeLane(session);
    },
    isOwn: (session) => lanes.some((lane) => lane.session.id === session),
    openCalls: async () => {
      const own = await current();
      const found: OpenCall[] = [];
      for (const session of [own.id, ...earlier]) {
        const { calls } = session === own.id ? own.state : await readSessionState(ledger, session);
        for (const call of calls.values())
          if (isAsked(call) && call.index >= 0) found.push({ session, callId: call.callId, approval: call.approval });
      }
      return found;
    },
    close: async () => {
      const session = await opened?.catch(() => undefined);
      following?.close();
      const [first, ...others] = lanes;
      for (const lane of others) await lane.close();
      if (first) await closeLane(first);
      else await session?.close("done", 0);
    },
  };
}

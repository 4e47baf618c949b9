import type { FileChanges } from "../../file-ports.ts";
import type { Json } from "../../model/json/json.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import type { Clock, Digest, Ids, Policy } from "../../ports.ts";
import type { Registry } from "../../registry.ts";
import type { Invocation, PendingAction, Tool } from "../../tool-definition.ts";
import type { Session } from "../session/session.ts";
import type { StandingHandler } from "./standing-handler.ts";

/** Code of this process that settles a proposal. */
export type Closure = Pick<PendingAction, "apply" | "reject"> & {
  readonly details: Json | undefined;
  /** The staging call, which its apply is judged as; undefined: it was queued outside of any. */
  readonly made: StagingCall | undefined;
};

/** A call that stages an action. */
export type StagingCall = { readonly callId: string; readonly cwd: string; readonly tool: Tool; readonly invocation: Invocation };

/** Where the proposals of one session are staged, applied, discarded and undone in this process. */
export type Staging = {
  readonly session: Session;
  /** Absent: nothing can be staged here. */
  readonly changes: FileChanges | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly warn: (message: string) => void;
  /** The tools of the moment: an apply needs the one that made the preview. */
  readonly tools: () => Registry;
  readonly policy: () => Policy;
  /** What only this process can settle, by proposal. */
  readonly closures: Map<string, Closure>;
  /** Proposals that this process is settling now. */
  readonly busy: Set<string>;
  /** The real paths that open proposals touch, as far as they were looked up. */
  readonly paths: Map<string, readonly string[]>;
  /** Ends when the files that are being changed now are. */
  files: Promise<unknown>;
  standing: StandingHandler | null;
  /** Called before something is staged that a person may want to settle from elsewhere. */
  listen: () => void;
};

/** What staging is made of. */
export type StagingParts = Pick<Staging, "session" | "changes" | "clock" | "ids" | "digest" | "warn" | "tools" | "policy">;

/** Who may apply proposals: the person alone if a rule denies `resolve`, otherwise whom settings name. */
export function resolverOf({ proposals, checkers }: Policy): Resolver {
  const unit = { subject: "resolve" };
  const request = {
    tool: "resolve",
    toolDigest: "",
    kind: "other",
    input: { action: "apply" },
    cwd: "/",
    binds: {},
    units: [unit],
  } as const;
  if (checkers.some(({ check }) => check(request, unit).verdict === "deny")) return "person";
  return proposals?.resolver ?? "both";
}

type Resolver = NonNullable<Policy["proposals"]>["resolver"];

type HeldProposals = Pick<Staging, "closures" | "busy" | "paths">;

const HELD = new WeakMap<Session, HeldProposals>();

/** What was staged before is in the session's state; code of this process that settles it outlives a dispatcher of the same session. */
export function createStaging(parts: StagingParts): Staging {
  const held: HeldProposals = HELD.get(parts.session) ?? { closures: new Map(), busy: new Set(), paths: new Map() };
  HELD.set(parts.session, held);
  return {
    ...parts,
    ...held,
    files: Promise.resolve(),
    standing: null,
    listen: () => undefined,
  };
}

/** Nothing is settled in this process any more: what was kept for it goes. */
export function forgetProposal({ closures, paths }: Staging, id: string): void {
  closures.delete(id);
  paths.delete(id);
}

/** What waits to be settled, oldest first; parked ones count. */
export function stagedRows({ session }: Staging): readonly ProposalRow[] {
  return [...session.state.proposals.values()].filter(({ state }) => state === "staged");
}

/** The staged ones of these that this process is not settling. */
export function freeToSettle({ session, busy }: Staging, ids: readonly string[]): readonly string[] {
  return ids.filter((id) => session.state.proposals.get(id)?.state === "staged" && !busy.has(id));
}

/** Reserves these proposals until `act` is done. Called in the same turn as the check that found them free. */
export async function whileBusy<T>({ busy }: Staging, ids: readonly string[], act: () => Promise<T>): Promise<T> {
  for (const id of ids) busy.add(id);
  try {
    return await act();
  } finally {
    for (const id of ids) busy.delete(id);
  }
}

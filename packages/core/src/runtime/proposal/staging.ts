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
  /** The staging call, as which its apply is judged; undefined if it was queued outside of a call. */
  readonly made: StagingCall | undefined;
};

/** A call that stages an action. */
export type StagingCall = { readonly callId: string; readonly cwd: string; readonly tool: Tool; readonly invocation: Invocation };

/** Everything for staging, applying, discarding and undoing proposals of one session in this process. */
export type Staging = {
  readonly session: Session;
  /** Without it, nothing can be staged. */
  readonly changes: FileChanges | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly warn: (message: string) => void;
  /** The current tools: an apply needs the one that made the preview. */
  readonly tools: () => Registry;
  readonly policy: () => Policy;
  /** Proposals that only this process can settle. */
  readonly closures: Map<string, Closure>;
  /** Proposals that this process is settling now. */
  readonly busy: Set<string>;
  /** The real paths of open proposals, cached. */
  readonly paths: Map<string, readonly string[]>;
  /** Settles when the current file changes are done. */
  files: Promise<unknown>;
  standing: StandingHandler | null;
  /** Called before staging something that a person may settle from another process. */
  listen: () => void;
};

/** What `createStaging` needs. */
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

/** Creates the staging of a session. Closures of this process outlive a dispatcher of the same session. */
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

/** Drops the closure and paths of a proposal that this process no longer settles. */
export function forgetProposal({ closures, paths }: Staging, id: string): void {
  closures.delete(id);
  paths.delete(id);
}

/** Staged proposals, including parked ones, oldest first. */
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

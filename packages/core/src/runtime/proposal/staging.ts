import type { FileChanges } from "../../file-ports.ts";
import type { Draft } from "../../model/events.ts";
import type { Json } from "../../model/json/json.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText } from "../../model/proposal/resolve-texts.ts";
import type { Clock, Digest, Ids, Policy } from "../../ports.ts";
import type { Registry } from "../../registry.ts";
import type { Invocation, PendingAction, Tool } from "../../tool-definition.ts";
import type { Session } from "../session/session.ts";
import type { ResolveFallback } from "./resolve.ts";

/** Callbacks of this process that settle a proposal. */
export type Closure = Pick<PendingAction, "apply" | "reject"> & {
  readonly details: Json | undefined;
  readonly made: StagingCall | undefined;
};

export type StagingCall = { readonly callId: string; readonly cwd: string; readonly tool: Tool; readonly invocation: Invocation };

/** The state that one process needs to settle a session's proposals. */
export type Staging = {
  readonly session: Session;
  readonly changes: FileChanges | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly warn: (message: string) => void;
  readonly tools: () => Registry;
  readonly policy: () => Policy;
  readonly closures: Map<string, Closure>;
  readonly busy: Set<string>;
  readonly paths: Map<string, readonly string[]>;
  /** Resolves when the current file changes are done. */
  files: Promise<unknown>;
  fallback: ResolveFallback | null;
  listen: () => void;
};

export type StagingParts = Pick<Staging, "session" | "changes" | "clock" | "ids" | "digest" | "warn" | "tools" | "policy">;

/** Only a person applies proposals if a rule denies `resolve`; otherwise settings decide. */
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

/** Dispatchers of one session share the closures. */
export function createStaging(parts: StagingParts): Staging {
  const held: HeldProposals = HELD.get(parts.session) ?? { closures: new Map(), busy: new Set(), paths: new Map() };
  HELD.set(parts.session, held);
  return {
    ...parts,
    ...held,
    files: Promise.resolve(),
    fallback: null,
    listen: () => undefined,
  };
}

export function forgetProposal({ closures, paths }: Staging, id: string): void {
  closures.delete(id);
  paths.delete(id);
}

/** Oldest first, including parked ones. */
export function stagedRows({ session }: Staging): readonly ProposalRow[] {
  if (session.state.proposals.size === 0) return [];
  return [...session.state.proposals.values()].filter(({ state }) => state === "staged");
}

/** The proposals that are staged and not being settled. */
export function freeToSettle({ session, busy }: Staging, ids: readonly string[]): readonly string[] {
  return ids.filter((id) => session.state.proposals.get(id)?.state === "staged" && !busy.has(id));
}

/** Call it synchronously after checking that the proposals are free. */
export async function reserveWhile<T>({ busy }: Staging, ids: readonly string[], act: () => Promise<T>): Promise<T> {
  for (const id of ids) busy.add(id);
  try {
    return await act();
  } finally {
    for (const id of ids) busy.delete(id);
  }
}

export function noticeDraft({ session, ids }: Staging, text: string, displayText: string = text): Draft<"notice.queued"> {
  return session.draft("notice.queued", { notice: ids.next("n_"), kind: "proposal", modelText: text, displayText });
}

export function parkedNotice(staging: Staging, row: Pick<ProposalRow, "id" | "label">): Draft<"notice.queued"> {
  const { id, label } = row;
  const forPeople = `${label} waits for you as ${id}. Apply it: assent approve ${id} Discard it: assent reject ${id}`;
  return noticeDraft(staging, resolveText.parked(row), forPeople);
}

export function describeSettling(what: string, { id, label }: Pick<ProposalRow, "id" | "label">, reason: string): string {
  return `${what} ${label} (${id}).${reason === "" ? "" : ` Reason: ${reason}`}`;
}

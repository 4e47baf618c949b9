import type { LedgerEvent } from "../events.ts";
import { canonicalJson } from "../json/canonical.ts";
import type { Json, JsonObject } from "../json/json.ts";
import type { Kind } from "../kind.ts";
import type { ProposalEventBodies, Resolution } from "./events.ts";

/** How a proposal stands. `parked` is a flag of `staged`, not a state. */
export type ProposalState = "staged" | "applying" | "applied" | "discarded" | "stale" | "superseded" | "unknown" | "undone";

/** What becomes of one file: digests are `sha256:<hex>` of raw bytes, or "absent". Paths are absolute; `realPath` is where it led at the preview. */
export type FileEffect = {
  readonly path: string;
  readonly realPath: string;
  readonly op: "create" | "modify" | "delete" | "rename";
  readonly to?: string;
  readonly before: string;
  readonly after: string;
  /** Permission bits of the file that is made or was there. */
  readonly mode: number | null;
};

/** What is kept of a preview beside its contents. */
export type ProposalManifest = {
  /** Every change in full, one text per change, as people read them. */
  readonly blocks: readonly string[];
  readonly effects: readonly FileEffect[];
  /** For the tool's `apply`. */
  readonly data?: Json;
  readonly details?: Json;
};

/** One proposal as fold and list know it; what it would do stays in the ledger, at `seq` of its session. */
export type ProposalRow = {
  readonly id: string;
  readonly session: string;
  readonly seq: number;
  readonly callId: string | null;
  readonly tool: string;
  readonly toolDigest: string;
  readonly kind: Kind;
  readonly cwd: string;
  readonly label: string;
  readonly carrier: "data" | "closure";
  readonly owner: ProposalEventBodies["proposal.staged"]["owner"];
  readonly digest: string;
  readonly files: number;
  readonly state: ProposalState;
  readonly parked: boolean;
  readonly reminded: number;
  readonly unheeded: number;
  readonly failures: number;
  readonly resolution: Resolution | null;
  readonly cause: ProposalEventBodies["proposal.stale"]["cause"] | null;
  /** Files that changed, or the state of each if that is unclear. */
  readonly changed: readonly string[];
  readonly supersededBy: string | null;
  readonly error: { readonly type: string; readonly message: string } | null;
  /** What a person asked for and the holder has not done yet. `begun`: files may have gone back. */
  readonly requested: { readonly action: "apply" | "discard" | "undo"; readonly pos: number; readonly begun?: true } | null;
  readonly stagedAt: string;
  readonly updatedAt: string;
};

/** One of a proposal's events, its wish from elsewhere included. */
export type ProposalEvent = LedgerEvent<keyof ProposalEventBodies>;

/** What a proposal is digested as. */
export type ProposalIdentity = {
  readonly tool: string;
  readonly toolDigest: string;
  readonly input: JsonObject;
  readonly label: string;
  readonly effects: readonly FileEffect[];
};

/** The text whose digest names a proposal: what its tool was asked, how it is called, and what becomes of every file. Where a path led is checked when it is applied. */
export function proposalIdentityText({ tool, toolDigest, input, label, effects }: ProposalIdentity): string {
  const files = effects.map(({ path, op, to, before, after, mode }) => ({
    path,
    op,
    ...(to !== undefined && { to }),
    before,
    after,
    mode,
  }));
  return canonicalJson({ tool, toolDigest, input, label, effects: files });
}

/** Every place that rules are asked about: as it was written, and where it led. */
export function judgedPaths(effects: readonly FileEffect[]): readonly string[] {
  return [...new Set(effects.flatMap(({ path, realPath, to }) => (to === undefined ? [path, realPath] : [path, realPath, to])))];
}

/** Every place an effect touches, as real paths. */
export function touchedPaths(effects: readonly FileEffect[]): readonly string[] {
  return effects.flatMap(({ realPath, to }) => (to === undefined ? [realPath] : [realPath, to]));
}

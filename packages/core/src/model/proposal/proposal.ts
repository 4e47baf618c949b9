import type { LedgerEvent } from "../events.ts";
import { canonicalJson } from "../json/canonical.ts";
import type { Json, JsonObject } from "../json/json.ts";
import type { ProposalEventBodies, Resolution } from "./events.ts";

/** The state of a proposal; a parked one is `staged`. */
export type ProposalState = "staged" | "applying" | "applied" | "discarded" | "stale" | "superseded" | "unknown" | "undone";

/**
 * The change to one path. Digests are `sha256:<hex>` of raw bytes, `link:<target>`, `directory`, or "absent"; `realPath` is where the
 * path led at the preview.
 */
export type FileEffect = {
  readonly path: string;
  readonly realPath: string;
  readonly op: "create" | "modify" | "delete" | "rename";
  readonly to?: string;
  readonly before: string;
  readonly after: string;
  readonly mode: number | null;
  /** Permission bits that are part of the change; null where there are none. */
  readonly modes?: { readonly before: number | null; readonly after: number | null };
};

/** A preview without its contents. */
export type ProposalManifest = {
  /** The full text of each change, for people. */
  readonly blocks: readonly string[];
  readonly effects: readonly FileEffect[];
  readonly data?: Json;
  readonly details?: Json;
  /** The proposal that a person took this part from. */
  readonly part?: { readonly of: string; readonly digest: string };
};

/** A proposal as folded and listed; the ledger keeps its effects at `seq` of its session. */
export type ProposalRow = Omit<ProposalEventBodies["proposal.staged"], "proposal" | "input" | "manifest" | "contents" | "supersedes"> & {
  readonly id: string;
  readonly session: string;
  readonly seq: number;
  readonly state: ProposalState;
  readonly parked: boolean;
  readonly reminded: number;
  readonly unheeded: number;
  readonly failures: number;
  readonly resolution: Resolution | null;
  readonly cause: ProposalEventBodies["proposal.stale"]["cause"] | null;
  /** Changed files, or the state of each file if that is unclear. */
  readonly changed: readonly string[];
  readonly supersededBy: string | null;
  readonly error: { readonly type: string; readonly message: string } | null;
  /** A person's request, until the holder carries it out. `begun`: some files may already be restored. */
  readonly requested: { readonly action: "apply" | "discard" | "undo"; readonly pos: number; readonly begun?: true } | null;
  readonly stagedAt: string;
  readonly updatedAt: string;
};

/** A proposal event, including requests from the shared chain. */
export type ProposalEvent = LedgerEvent<keyof ProposalEventBodies>;

export type ProposalIdentity = {
  readonly tool: string;
  readonly toolDigest: string;
  readonly input: JsonObject;
  readonly label: string;
  readonly effects: readonly FileEffect[];
};

/** The text whose digest names a proposal. It omits `realPath`, which is checked on apply. */
export function proposalIdentityText({ tool, toolDigest, input, label, effects }: ProposalIdentity): string {
  const files = effects.map(({ path, op, to, before, after, mode, modes }) => ({
    path,
    op,
    ...(to !== undefined && { to }),
    before,
    after,
    mode,
    ...(modes && { modes }),
  }));
  return canonicalJson({ tool, toolDigest, input, label, effects: files });
}

/** Every path that rules judge: as written, and its real path. */
export function judgedPaths(effects: readonly FileEffect[]): readonly string[] {
  return [...new Set(effects.flatMap(({ path, realPath, to }) => (to === undefined ? [path, realPath] : [path, realPath, to])))];
}

/** The real paths of all effects. */
export function touchedPaths(effects: readonly FileEffect[]): readonly string[] {
  return effects.flatMap(({ realPath, to }) => (to === undefined ? [realPath] : [realPath, to]));
}

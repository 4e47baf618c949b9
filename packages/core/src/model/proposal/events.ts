import type { By } from "../answer.ts";
import type { Holder } from "../holder.ts";
import type { Json, JsonObject } from "../json/json.ts";
import type { Kind } from "../kind.ts";
import type { ProposalPart } from "./part.ts";

/** Who settled a proposal. */
export type Resolution = {
  readonly action: "apply" | "discard";
  readonly by: "model" | "person" | "runtime";
  readonly who?: By;
  readonly reason: string;
  readonly extra?: JsonObject;
  /** The call of `resolve`. */
  readonly callId?: string;
  readonly at: string;
};

/** A file's state after an apply that did not finish. */
export type FileState = { readonly path: string; readonly at: "before" | "after" | "other" };

export type ProposalEventBodies = {
  "proposal.staged": {
    readonly proposal: string;
    readonly callId: string | null;
    readonly tool: string;
    readonly toolDigest: string;
    readonly kind: Kind;
    readonly cwd: string;
    readonly input: JsonObject;
    readonly label: string;
    /** `closure`: only the process that staged it can settle it. */
    readonly carrier: "data" | "closure";
    readonly owner: Holder | null;
    readonly digest: string;
    readonly files: number;
    /** A `ProposalManifest`. */
    readonly manifest: Json;
    /** SHA-256 (hex) of every content before and after. */
    readonly contents: readonly string[];
    /** Older proposals of the same request. */
    readonly supersedes?: readonly string[];
  };
  "proposal.applying": { readonly proposal: string; readonly digest: string; readonly resolution: Resolution };
  "proposal.applied": { readonly proposal: string; readonly superseded: readonly string[] };
  /** Nothing changed and the proposal is staged again; `cancelled` does not count as a failure. */
  "proposal.apply_failed": {
    readonly proposal: string;
    readonly type: string;
    readonly message: string;
    readonly cancelled?: boolean;
    readonly recovered?: boolean;
  };
  "proposal.discarded": { readonly proposal: string; readonly resolution: Resolution };
  "proposal.stale": { readonly proposal: string; readonly cause: "changed" | "lost" | "tool"; readonly files: readonly string[] };
  "proposal.superseded": { readonly proposal: string; readonly by: string };
  "proposal.unknown": { readonly proposal: string; readonly message: string; readonly files: readonly FileState[] };
  /** Written before the first file is restored. */
  "proposal.undoing": { readonly proposal: string; readonly by: By };
  "proposal.undone": { readonly proposal: string; readonly by: By; readonly reason: string | null };
  /** The proposal is unchanged. */
  "proposal.refused": {
    readonly proposal: string;
    readonly action: "apply" | "discard" | "undo";
    readonly type: string;
    readonly message: string;
  };
  "proposal.reminded": { readonly proposal: string; readonly turn: number };
  "proposal.unheeded": { readonly proposal: string; readonly turn: number };
  "proposal.parked": { readonly proposal: string; readonly why: "unheeded" | "failures" | "person" | "ended" };
  /** Asks the process that holds the session. */
  "proposal.requested": {
    readonly proposal: string;
    readonly session: string;
    readonly action: "apply" | "discard" | "undo";
    readonly digest: string;
    readonly reason: string | null;
    readonly by: By;
    /** For `apply`: only this part. */
    readonly part?: ProposalPart;
  };
};

import type { Draft } from "../../model/events.ts";
import type { FileState } from "../../model/proposal/events.ts";
import type { ProposalManifest, ProposalRow } from "../../model/proposal/proposal.ts";
import { resolveText, thrownWords } from "../../model/proposal/resolve-texts.ts";
import type { Content, Display } from "../../model/result/result.ts";
import type { AppliedPreview } from "../../tool-definition.ts";
import { recordSurely } from "../session/record-surely.ts";
import type { SettleInput } from "./settling.ts";
import { forgetProposal, freeToSettle, reserveWhile, type Staging, stagedRows } from "./staging.ts";
import { pathsOf } from "./stored.ts";

/** `insteadOf`: the proposal that this one is a part of; the caller holds it. */
export type AppliedInfo = { readonly also?: readonly Draft[]; readonly insteadOf?: string | undefined };

/** Records the apply and supersedes staged proposals that touch the same files. */
export async function recordApplied(
  staging: Staging,
  row: ProposalRow,
  { also = [], insteadOf }: AppliedInfo = {},
): Promise<readonly ProposalRow[]> {
  const { session } = staging;
  const sharing = await rowsSharing(staging, row, insteadOf);
  const free = freeToSettle(
    staging,
    sharing.map(({ id }) => id),
  );
  const ids = sharing.flatMap(({ id }) => (id === insteadOf || free.includes(id) ? [id] : []));
  const events = (): readonly Draft[] => [
    session.draft("proposal.applied", { proposal: row.id, superseded: ids }),
    ...ids.map((id) => session.draft("proposal.superseded", { proposal: id, by: row.id })),
    ...also,
  ];
  const isPersons = session.state.proposals.get(row.id)?.resolution?.by === "person";
  const durability = isPersons ? "full" : "normal";
  await reserveWhile(staging, free, async () => recordSurely(staging, { events, durability }));
  for (const id of [row.id, ...ids]) forgetProposal(staging, id);
  return sharing.filter(({ id }) => ids.includes(id));
}

export async function recordUnknown(staging: Staging, { id }: ProposalRow, { message, files, also = [] }: UnclearApply): Promise<void> {
  const unknown = { proposal: id, message, files };
  await recordSurely(staging, { events: () => [staging.session.draft("proposal.unknown", unknown), ...also] });
  forgetProposal(staging, id);
}

type UnclearApply = { readonly message: string; readonly files: readonly FileState[]; readonly also?: readonly Draft[] };

async function rowsSharing(staging: Staging, row: ProposalRow, insteadOf: string | undefined): Promise<readonly ProposalRow[]> {
  const others = stagedRows(staging).filter(({ id }) => id !== row.id);
  if (others.length === 0) return others;
  try {
    const touched = new Set(await pathsOf(staging, row));
    const shares = await Promise.all(others.map(async (other) => (await pathsOf(staging, other)).some((path) => touched.has(path))));
    return others.filter(({ id }, at) => shares[at] || id === insteadOf);
  } catch (error) {
    staging.warn(`could not determine which proposals ${row.id} supersedes: ${thrownWords(error)}`);
    return others.filter(({ id }) => id === insteadOf);
  }
}

type ApplyWords = {
  readonly row: ProposalRow;
  readonly manifest: ProposalManifest;
  readonly settling: SettleInput;
  readonly display?: Display | undefined;
};

/** What a tool's `apply` receives about its preview. */
export function appliedPreview({ row, manifest, settling, display }: ApplyWords): AppliedPreview {
  const { reason, extra } = settling.resolution;
  const { data, details, effects } = manifest;
  return {
    proposalId: row.id,
    label: row.label,
    ...(data !== undefined && { data }),
    ...(details !== undefined && { details }),
    ...(display !== undefined && { display }),
    files: effects.flatMap(({ path, to, after }) =>
      to === undefined
        ? [{ path, digest: after }]
        : [
            { path, digest: "absent" },
            { path: to, digest: after },
          ],
    ),
    reason,
    ...(extra !== undefined && { extra }),
  };
}

export function withSuperseded(content: Content, rows: readonly ProposalRow[]): Content {
  if (rows.length === 0) return content;
  const text = rows.map(resolveText.superseded).join("\n");
  return typeof content === "string" ? `${content}\n${text}` : [...content, { type: "text", text }];
}

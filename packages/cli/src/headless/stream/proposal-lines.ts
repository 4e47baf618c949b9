import { isObject, type LedgerEvent, type ProposalRow } from "@assent/core";
import type { WireMessage } from "./message.ts";

type File = { readonly path: string; readonly added: number; readonly removed: number };
type KnownProposal = { readonly label: string; readonly callId: string | null; readonly files: readonly File[] };

const STATES: Readonly<Record<string, string>> = {
  "proposal.staged": "staged",
  "proposal.applying": "applying",
  "proposal.applied": "applied",
  "proposal.apply_failed": "staged",
  "proposal.parked": "staged",
  "proposal.discarded": "discarded",
  "proposal.stale": "stale",
  "proposal.superseded": "superseded",
  "proposal.unknown": "unknown",
  "proposal.undone": "undone",
};

/** Turns proposal events into messages, starting with the proposals that are already open. */
export function proposalLines(open: Iterable<ProposalRow>): (event: LedgerEvent) => WireMessage | undefined {
  const known = new Map<string, KnownProposal>();
  for (const { id, label, callId } of open) known.set(id, { label, callId, files: [] });
  return (event) => {
    const state = STATES[event.type];
    if (state === undefined || !("proposal" in event.body)) return undefined;
    const id = event.body.proposal;
    if (event.type === "proposal.staged") {
      const { label, callId, manifest } = event.body;
      known.set(id, { label, callId, files: touchedFiles(manifest) });
    }
    const { label = "", callId = null, files = [] } = known.get(id) ?? {};
    const parked = event.type === "proposal.parked" && { parked: event.body.why };
    return { type: "system", subtype: "proposal", proposal_id: id, state, label, files, tool_use_id: callId, ...parked };
  };
}

function touchedFiles(manifest: unknown): readonly File[] {
  if (!isObject(manifest)) return [];
  const { effects, blocks } = manifest;
  const files = (Array.isArray(effects) ? effects : []).filter(isObject).map(({ path }) => ({ path: String(path), added: 0, removed: 0 }));
  let current = files.length === 1 ? files[0] : undefined;
  for (const line of (Array.isArray(blocks) ? blocks : []).flatMap((block) => String(block).split("\n"))) {
    if (!line.startsWith("  ")) current = files.find(({ path }) => path === line || path.endsWith(`/${line}`)) ?? current;
    else if (current) count(current, line);
  }
  return files;
}

function count(file: { added: number; removed: number }, line: string): void {
  if (line.startsWith("  + ")) file.added += 1;
  if (line.startsWith("  - ")) file.removed += 1;
}

import type { EventBodies, LedgerEvent } from "../events.ts";
import type { ProposalEvent, ProposalRow, ProposalState } from "./proposal.ts";

type StagedBody = EventBodies["proposal.staged"];
type RowChange = Partial<ProposalRow> | undefined;

const ANY: readonly ProposalState[] = ["staged", "applying", "applied", "discarded", "stale", "superseded", "unknown", "undone"];

/** The states each event may follow. */
const FROM: Readonly<Record<ProposalEvent["type"], readonly ProposalState[]>> = {
  "proposal.staged": [],
  "proposal.applying": ["staged"],
  "proposal.applied": ["applying"],
  "proposal.apply_failed": ["applying"],
  "proposal.discarded": ["staged"],
  "proposal.stale": ["staged", "applying"],
  "proposal.superseded": ["staged"],
  "proposal.unknown": ["applying"],
  "proposal.undoing": ["applied"],
  "proposal.undone": ["applied"],
  "proposal.reminded": ANY,
  "proposal.unheeded": ANY,
  "proposal.parked": ANY,
  "proposal.requested": ANY,
  "proposal.refused": ANY,
};

/** Ignored if a person settled the proposal meanwhile. */
const STEERING: readonly ProposalEvent["type"][] = ["proposal.reminded", "proposal.unheeded", "proposal.parked"];

export function isProposalEvent(event: LedgerEvent): event is ProposalEvent {
  return Object.hasOwn(FROM, event.type);
}

/** The only way a proposal changes; undefined if the event is illegal. */
export function nextProposal(row: ProposalRow | undefined, event: ProposalEvent): ProposalRow | undefined {
  if (event.type === "proposal.staged") return row ? undefined : stagedRow(event.session, event.seq, { at: event.at, body: event.body });
  if (!row || ownerOf(event) !== row.session || !FROM[event.type].includes(row.state)) return undefined;
  if (STEERING.includes(event.type) && !isOpenProposal(row)) return row;
  const change = changeBy(row, event);
  return change && { ...row, ...change, updatedAt: event.at };
}

/** A request in the shared chain names its session. */
function ownerOf(event: ProposalEvent): string {
  return event.type === "proposal.requested" ? event.body.session : event.session;
}

/** True if staged or being applied. */
export function isOpenProposal({ state }: ProposalRow): boolean {
  return state === "staged" || state === "applying";
}

function stagedRow(session: string, seq: number, { at, body }: { readonly at: string; readonly body: StagedBody }): ProposalRow {
  const { proposal: id, callId, tool, toolDigest, kind, cwd, label, carrier, owner, digest, files } = body;
  return {
    ...{ id, session, seq, callId, tool, toolDigest, kind, cwd, label, carrier, owner, digest, files },
    state: "staged",
    parked: false,
    reminded: 0,
    unheeded: 0,
    failures: 0,
    resolution: null,
    cause: null,
    changed: [],
    supersededBy: null,
    error: null,
    requested: null,
    stagedAt: at,
    updatedAt: at,
  };
}

const SETTLED = { requested: null, parked: false } as const;

function changeBy(row: ProposalRow, event: Exclude<ProposalEvent, { readonly type: "proposal.staged" }>): RowChange {
  switch (event.type) {
    case "proposal.applying":
      return event.body.digest === row.digest ? { state: "applying", resolution: event.body.resolution, error: null } : undefined;
    case "proposal.applied":
      return { ...SETTLED, state: "applied" };
    case "proposal.apply_failed":
      return failedChange(row, event.body);
    case "proposal.discarded":
      return { ...SETTLED, state: "discarded", resolution: event.body.resolution };
    case "proposal.stale":
      return { ...SETTLED, state: "stale", cause: event.body.cause, changed: filesOf(event.body.files) };
    case "proposal.superseded":
      return { ...SETTLED, state: "superseded", supersededBy: event.body.by };
    case "proposal.unknown":
      return {
        ...SETTLED,
        state: "unknown",
        changed: filesOf(event.body.files).map(({ path }) => path),
        error: unknownError(event.body.message),
      };
    case "proposal.undoing":
      return { requested: row.requested && { ...row.requested, begun: true } };
    case "proposal.undone":
      return { requested: null, state: "undone" };
    case "proposal.reminded":
      return { reminded: row.reminded + 1 };
    case "proposal.unheeded":
      return { unheeded: row.unheeded + 1 };
    case "proposal.parked":
      return { parked: true };
    case "proposal.refused":
      return row.requested?.action === event.body.action ? { requested: null } : {}; // a newer request stays
    case "proposal.requested":
      return event.body.digest === row.digest ? requestedChange(row, event) : undefined;
    default:
      return event satisfies never;
  }
}

/** The newest request wins, unless files are already being restored. */
function requestedChange({ requested }: ProposalRow, { pos, body }: LedgerEvent<"proposal.requested">): RowChange {
  return requested?.begun ? {} : { requested: { action: body.action, pos } };
}

/** A long list is stored beside its event, where readers load it. */
function filesOf<T>(files: readonly T[]): readonly T[] {
  return Array.isArray(files) ? files : [];
}

function unknownError(message: string): ProposalRow["error"] {
  return { type: "apply_unknown", message };
}

/** A cancel or a crash is not a failure. */
function failedChange(row: ProposalRow, { type, message, cancelled, recovered }: EventBodies["proposal.apply_failed"]): RowChange {
  const counts = !cancelled && !recovered;
  return {
    state: "staged",
    resolution: null,
    requested: null,
    unheeded: 0,
    failures: row.failures + Number(counts),
    error: { type, message },
  };
}

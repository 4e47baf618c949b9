import { messageOf, type SessionGroup, type SessionRow } from "@assent/core";
import type { Context } from "../command-line/spec.ts";
import { warn } from "../io/output.ts";
import { isGatewayGroup } from "../mcp-gateway/group.ts";
import { agentNamed } from "./agent-name.ts";
import { agentLives } from "./agent-process.ts";
import type { OutsidePlace } from "./outside-policy.ts";
import { settleUnreported } from "./settle.ts";

/** Only the newest sessions are searched for calls of killed agents. */
const MOST_ROWS = 500;
/** How long an agent counts as running if this machine cannot tell. */
const ASSUMED_ALIVE_MS = 24 * 60 * 60 * 1_000;

/**
 * Ends the calls of killed agents, which report no end of their session: claimed calls as unknown, open approvals as
 * cancelled. Calls of agents that still run are left alone. An error is only a warning.
 */
export async function sweepKilledAgents(context: Context, place: OutsidePlace): Promise<void> {
  try {
    for (const row of await place.ledger.pending("sessions", { all: true, newestFirst: true, limit: MOST_ROWS })) {
      if (row.group && !isGatewayGroup(row.group) && hasNoProcess(row) && hasAgentEnded(place, row, row.group))
        await settleUnreported(
          context,
          { ...place, agent: agentNamed(row.group.client) },
          row,
          `${row.group.title} is gone and did not report a result`,
        );
    }
  } catch (error) {
    await warn(context.io, `calls of killed agents could not be ended: ${messageOf(error)}`);
  }
}

function hasNoProcess({ state }: SessionRow): boolean {
  return state === "interrupted" || state === "parked";
}

function hasAgentEnded({ ports }: OutsidePlace, { updatedAt }: SessionRow, group: SessionGroup): boolean {
  const lives = agentLives(group);
  return lives === undefined ? ports.clock.now() - Date.parse(updatedAt) > ASSUMED_ALIVE_MS : !lives;
}

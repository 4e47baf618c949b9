import { type Ledger, listRows, type ProposalRow } from "@assent/core";
import type { ServerLists } from "@assent/mcp";
import { listWaiting } from "../../desk/approvals/waiting-list.ts";
import { oneLine } from "../../io/visible-text.ts";
import type { TuiSession } from "../conversation/tui-session.ts";
import type { CompletedId, IdKind } from "./completion.ts";

export type IdPlaces = {
  readonly ledger: Ledger;
  readonly current: () => TuiSession | undefined;
  readonly tools: () => readonly string[];
};

const MOST = 100;

/** Lists ids for completion, sessions and changes newest first. */
export async function listIds(kind: IdKind, { ledger, current, tools }: IdPlaces): Promise<readonly CompletedId[]> {
  switch (kind) {
    case "approvals":
      return (await listWaiting(ledger, { query: {}, after: undefined, limit: MOST })).map(({ id, subject }) => idRow(id, subject));
    case "grants":
      return (await ledger.pending("grants", { limit: MOST })).map(({ id, rule }) => idRow(id, rule));
    case "proposals":
      return (await ledger.pending("proposals", { limit: MOST })).map(({ id, label }) => idRow(id, label));
    case "sessions":
      return newest((await listRows(ledger, "sessions", { all: true })).filter(({ parent }) => !parent)).map(({ id, title }) =>
        idRow(id, title),
      );
    case "undoable":
      return newest(await listUndoable(current())).map(({ id, label }) => idRow(id, label));
    case "tasks":
      return (current()?.agent.tasks.list() ?? []).map(({ id, agent, description }) => idRow(id, `${agent}: ${description}`));
    case "prompts": {
      const { promptCommand } = await import("@assent/mcp");
      return listed(current(), "prompts", (server, { name, description = "" }) => idRow(promptCommand(server, name), description));
    }
    case "resources":
      return listed(current(), "resources", (server, { uri, name }) => idRow(`@${server}:${uri}`, name)).filter(({ id }) => !/\s/.test(id));
    case "tools":
      return tools().map((name) => idRow(name, ""));
    default:
      return kind satisfies never;
  }
}

/** What the running MCP servers of a session list. */
function listed<K extends "prompts" | "resources">(
  session: TuiSession | undefined,
  kind: K,
  describe: (server: string, item: ServerLists[K][number]) => CompletedId,
): readonly CompletedId[] {
  const servers = session?.agent.servers?.current()?.servers ?? [];
  return servers.flatMap((server) => server.lists()[kind].map((item) => describe(server.configured.name, item)));
}

function idRow(id: string, says: string): CompletedId {
  return { id, says: oneLine(says.slice(0, 200)) };
}

function newest<T>(rows: readonly T[]): readonly T[] {
  return rows.slice(-MOST).reverse();
}

export async function listUndoable(current: TuiSession | undefined): Promise<readonly ProposalRow[]> {
  if (!current) return [];
  const { ledger, id: session } = current.session;
  return (await listRows(ledger, "proposals", { session, all: true })).filter(({ state, files }) => state === "applied" && files > 0);
}

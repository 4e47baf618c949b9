import type { Context } from "../../command-line/spec.ts";
import { whenText } from "../../io/who.ts";
import { findRow } from "../../store/find-row.ts";
import { printList } from "../../store/list-page.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";

export function listProposals(context: Context): Promise<number> {
  const { options } = context;
  const [session, all] = [options.text("session"), options.flag("all")];
  return withStoreIfAny(context, async ({ ledger }) => {
    const sessionId = session === undefined ? undefined : (await findRow(ledger, "sessions", session)).id;
    return printList(context, ledger, {
      kind: "proposals",
      query: { all, ...(sessionId !== undefined && { session: sessionId }) },
      json: ({ id, session: of, tool, label, state, parked, files }) => ({ id, sessionId: of, tool, label, state, parked, files }),
      columns: ["id", "state", "tool", "since", { shrinks: "what" }],
      cells: ({ id, state, parked, tool, stagedAt, label }) => [id, parked ? "parked" : state, tool, whenText(stagedAt), label],
      none: all ? "No proposals." : "No proposals are waiting.",
      command: ["assent proposals", sessionId && ` --session ${sessionId}`, all && " --all", storeFlag(context)].filter(Boolean).join(""),
    });
  });
}

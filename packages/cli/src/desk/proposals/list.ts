import type { Context } from "../../command-line/spec.ts";
import { whenText } from "../../io/who.ts";
import { findNamedSession } from "../../store/find-row.ts";
import { printList } from "../../store/list-page.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";

export function listProposals(context: Context): Promise<number> {
  const { options } = context;
  const all = options.flag("all");
  return withStoreIfAny(context, async ({ ledger }) => {
    const sessionId = await findNamedSession(context, ledger);
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

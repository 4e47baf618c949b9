import { approvalForm } from "../approval-form.ts";
import { approvalSubject } from "../approval-view.ts";
import type { Context } from "../command-spec.ts";
import { findRow } from "../find-row.ts";
import { printList } from "../list-page.ts";
import { withStoreIfAny } from "../open-store.ts";
import { storeFlag } from "../store-location.ts";
import { whenText } from "../who.ts";

/** Lists what waits for an answer. */
export function run(context: Context): Promise<number> {
  const { options } = context;
  const [session, tool, all] = [options.text("session"), options.text("tool"), options.flag("all")];
  return withStoreIfAny(context, async ({ ledger }) => {
    const sessionId = session === undefined ? undefined : (await findRow(ledger, "sessions", session)).id;
    return printList(context, ledger, {
      kind: "approvals",
      query: { all, ...(sessionId !== undefined && { session: sessionId }), ...(tool !== undefined && { tool }) },
      json: (row) => (all ? { ...approvalForm(row), state: row.state } : approvalForm(row)),
      columns: [{ name: "id" }, ...(all ? [{ name: "state" }] : []), { name: "tool" }, { name: "since" }, { name: "what", shrinks: true }],
      cells: (row) => [row.id, ...(all ? [row.state] : []), row.tool, whenText(row.requestedAt), approvalSubject(row)],
      none: all ? "No approvals." : "Nothing waits for an answer.",
      command: ["assent approvals", sessionId && ` --session ${sessionId}`, tool && ` --tool ${tool}`, all && " --all", storeFlag(context)]
        .filter(Boolean)
        .join(""),
    });
  });
}

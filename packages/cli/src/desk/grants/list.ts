import type { GrantRow, JsonObject } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { whenText } from "../../io/who.ts";
import { printList } from "../../store/list-page.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";

/** Lists remembered answers. */
export function listGrants(context: Context): Promise<number> {
  const { options } = context;
  const [scope, all] = [options.text("scope"), options.flag("all")];
  return withStoreIfAny(context, ({ ledger }) =>
    printList(context, ledger, {
      kind: "grants",
      query: { all },
      keep: (row) => scope === undefined || row.scope === scope,
      json: grantForm,
      columns: [{ name: "id" }, { name: "scope" }, { name: "state" }, { name: "made" }, { name: "by" }, { name: "rule", shrinks: true }],
      cells: (row) => [row.id, row.scope, row.state, whenText(row.madeAt), row.madeBy, row.rule],
      none: "Nothing is remembered.",
      command: ["assent grants", scope && ` --scope ${scope}`, all && " --all", storeFlag(context)].filter(Boolean).join(""),
    }),
  );
}

function grantForm(row: GrantRow): JsonObject {
  const { id, scope, rule, tool, madeAt, madeBy, fromApproval, expiresAt, usesLeft, state, session, workspace } = row;
  return {
    id,
    scope,
    rule,
    tool,
    createdAt: madeAt,
    createdBy: madeBy,
    approvalId: fromApproval,
    ...(session !== undefined && { sessionId: session }),
    ...(workspace !== undefined && { workspace }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(usesLeft !== undefined && { usesLeft }),
    state,
  };
}

import type { GrantRow, JsonObject } from "@assent/core";
import { createSystemClock, currentUser } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { whenText } from "../../io/who.ts";
import { findRow } from "../../store/find-row.ts";
import { printList } from "../../store/list-page.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";

export function listGrants(context: Context): Promise<number> {
  const { options } = context;
  const [scope, all] = [options.text("scope"), options.flag("all")];
  return withStoreIfAny(context, ({ ledger }) =>
    printList(context, ledger, {
      kind: "grants",
      query: { all },
      keep: (row) => scope === undefined || row.scope === scope,
      json: grantForm,
      columns: ["id", "scope", "state", "made", "by", { shrinks: "rule" }],
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

export function revokeGrant(context: Context): Promise<number> {
  const { io, options, operands, overrides } = context;
  return withStoreIfAny(context, async ({ ledger }) => {
    const { id, rule, state } = await findRow(ledger, "grants", operands[0] ?? "");
    if (state !== "revoked") {
      const at = new Date((overrides.clock ?? createSystemClock()).now()).toISOString();
      await ledger.answer([{ type: "grant.revoked", v: 1, at, body: { grant: id, by: currentUser().user } }]);
    }
    if (options.flag("json")) await printJson(io, { id, state: "revoked" });
    else await io.stdout.write(`${id} is revoked: ${oneLine(rule)}\n`);
    return 0;
  });
}

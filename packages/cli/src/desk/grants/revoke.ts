import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { oneLine } from "../../io/visible-text.ts";
import { findRow } from "../../store/find-row.ts";
import { withStoreIfAny } from "../../store/open.ts";

/** Forgets a remembered answer. One that is revoked already stays so. */
export function revokeGrant(context: Context): Promise<number> {
  const { io, options, operands, overrides } = context;
  return withStoreIfAny(context, async ({ ledger }) => {
    const { id, rule, state } = await findRow(ledger, "grants", operands[0] ?? "");
    if (state !== "revoked") {
      const { currentUser, systemClock } = await import("@assent/host");
      const at = new Date((overrides.clock ?? systemClock()).now()).toISOString();
      await ledger.answer([{ type: "grant.revoked", v: 1, at, body: { grant: id, by: currentUser().user } }]);
    }
    if (options.flag("json")) await printJson(io, { id, state: "revoked" });
    else await io.stdout.write(`${id} is revoked: ${oneLine(rule)}\n`);
    return 0;
  });
}

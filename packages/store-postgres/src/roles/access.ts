import { LedgerError, type SharedDraft } from "@assent/core";
import type { Connection } from "../connect/connection.ts";

/** What the role of this connection may write. The database enforces it; asking first keeps a refusal from failing other writes. */
export type StoreAccess = { readonly role: string; readonly append: boolean; readonly answer: boolean; readonly own: boolean };

/** `prefix` names the roles that `assent store roles` created. */
export async function readAccess(connection: Connection, prefix: string | undefined): Promise<StoreAccess> {
  const has = (kind: string): string => `coalesce(pg_has_role(to_regrole(quote_ident($1 || '_${kind}')), 'usage'), false)`;
  const all = "has_table_privilege('events', 'insert')";
  const { rows } = await connection.query<StoreAccess>(
    prefix === undefined
      ? `select current_user::text as role, ${all} as append, ${all} as answer, ${all} as own`
      : `select current_user::text as role, ${has("owner")} or ${has("agent")} as append, ${has("owner")} or ${has("approver")} as answer,
           ${has("owner")} as own`,
    prefix === undefined ? undefined : [prefix],
  );
  return rows[0] ?? { role: "", append: false, answer: false, own: false };
}

/** Set if the role can write nothing. */
export function readOnlyRefusal({ role, append, answer }: StoreAccess): LedgerError | undefined {
  return append || answer ? undefined : refusedRole(role, "only read this ledger");
}

export function refuseAppend({ role, append }: StoreAccess): void {
  if (!append) throw refusedRole(role, "answer, but not run calls or write sessions. Use a role that is an agent");
}

/** The events that only people cause. Agents close their own approvals and questions. */
export function refuseAnswer(access: StoreAccess, { type, body }: SharedDraft): void {
  const { role, append, answer, own } = access;
  if (type === "approval.closed" || type === "notification.sent") return;
  if (type === "grant.used") {
    refuseAppend(access);
    return;
  }
  if (type === "trust.granted" || type === "trust.revoked") {
    if (!own) throw refusedRole(role, "not change which projects are trusted. Use a role that is an owner");
    return;
  }
  const closesOwn = append && type === "question.answered" && (body.outcome === "expired" || body.outcome === "cancelled");
  if (!answer && !closesOwn) throw refusedRole(role, "run calls, but not answer or grant. Use a role that is an approver");
}

function refusedRole(role: string, what: string): LedgerError {
  return new LedgerError("store_role_refused", `The database role ${role} may ${what}.`);
}

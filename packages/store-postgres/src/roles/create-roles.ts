import { LedgerError } from "@assent/core";
import { type Connection, makeConnect } from "../connect/connection.ts";
import { databaseError } from "../connect/failure.ts";
import { parseStoreUrl } from "../connect/store-url.ts";
import { prepareSchema } from "../schema/migrate.ts";
import { ROLE_KINDS, roleComment, rolesScript } from "./roles-sql.ts";

/** The options of `createPostgresRoles`. */
export type PostgresRolesOptions = {
  readonly url: string;
  /** The roles are PREFIX_owner, PREFIX_agent, PREFIX_approver and PREFIX_auditor. Default: the name of the schema. */
  readonly prefix?: string;
  /** Returns the script and runs nothing. */
  readonly dryRun?: boolean;
};

/** The names of the roles, and the script that creates them. */
export type PostgresRoles = { readonly roles: readonly string[]; readonly script: string };

const PREFIX = /^[a-z_][a-z0-9_]{0,47}$/;

/** Creates the database roles of a ledger, or brings them up to date. Throws `LedgerError`. */
export async function createPostgresRoles({ url, prefix, dryRun = false }: PostgresRolesOptions): Promise<PostgresRoles> {
  const place = parseStoreUrl(url);
  const name = prefix ?? place.schema;
  if (!PREFIX.test(name))
    throw new LedgerError(
      "store_role_refused",
      `'${name}' cannot begin the names of roles. Use lower-case letters, digits and underscores.`,
    );
  try {
    const connection = await makeConnect(place)();
    try {
      const { storeId } = await prepareSchema(connection, place, false);
      const roles = ROLE_KINDS.map((kind) => `${name}_${kind}`);
      const script = rolesScript({ schema: place.schema, prefix: name, store: storeId });
      if (dryRun) return { roles, script };
      await refuseForeignRoles(connection, name, storeId);
      await refuseWithoutRights(connection, place.shown);
      await connection.query(script);
      return { roles, script };
    } finally {
      await connection.close();
    }
  } catch (error) {
    throw databaseError(error, place.shown);
  }
}

/** Roles belong to the whole server, so another ledger or program may have taken the name. */
async function refuseForeignRoles(connection: Connection, prefix: string, store: string): Promise<void> {
  const names = ROLE_KINDS.map((kind) => `${prefix}_${kind}`);
  const { rows } = await connection.query<{ readonly name: string; readonly comment: string | null }>(
    "select rolname::text as name, shobj_description(oid, 'pg_authid') as comment from pg_roles where rolname = any($1)",
    [names],
  );
  const ours = new Set(ROLE_KINDS.map((kind) => `${prefix}_${kind} ${roleComment(kind, store)}`));
  const foreign = rows.find(({ name, comment }) => !ours.has(`${name} ${comment ?? ""}`));
  if (foreign)
    throw new LedgerError(
      "store_role_refused",
      `The role ${foreign.name} exists and does not belong to this ledger. Choose --prefix NAME.`,
    );
}

type Rights = { readonly name: string; readonly creates: boolean; readonly owns: boolean };

async function refuseWithoutRights(connection: Connection, shown: string): Promise<void> {
  const { rows } = await connection.query<Rights>(
    `select current_user::text as name, (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) as creates,
       (select pg_has_role(relowner, 'usage') from pg_class where oid = 'events'::regclass) as owns`,
  );
  const { name = "", creates = false, owns = false } = rows[0] ?? {};
  if (creates && owns) return;
  const lack = creates ? "does not own the tables of the ledger" : "may not create roles";
  throw new LedgerError(
    "store_role_refused",
    `The role ${name} of ${shown} ${lack}. Use a role with CREATEROLE that owns the ledger, or let an administrator run the output of: assent store roles --dry-run`,
  );
}

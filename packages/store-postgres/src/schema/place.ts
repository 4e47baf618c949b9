import type { Connection } from "../connect/connection.ts";

/** Which server, history and database a connection leads to, and the server's process. The table is added, because `pg_restore` makes it again. */
export type DatabasePlace = { readonly system: string; readonly timeline: string; readonly database: string; readonly pid: number };

/** A promoted or recovered server begins a new timeline, a copied database has another oid, another cluster another system id. */
export async function readPlace(connection: Connection): Promise<DatabasePlace> {
  const { rows } = await connection.query<DatabasePlace>(
    `select (select system_identifier::text from pg_control_system()) as system,
       case when pg_is_in_recovery() then 'standby' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline,
       (select oid::text from pg_database where datname = current_database()) as database, pg_backend_pid() as pid`,
  );
  const [place] = rows;
  if (!place) throw new Error("The server does not say which database this is.");
  return place;
}

/** As kept in `meta`. `table` is the oid of the table of events. */
export function placeText({ system, timeline, database }: DatabasePlace, table: number): string {
  return `${system}/${timeline}/${database}/${table}`;
}

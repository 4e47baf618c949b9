import type { Mark } from "@assent/store/parts";
import type { Connection } from "../connect/connection.ts";

/** Marks of events that the database lacks. Claims of pruned sessions are kept for this. */
export async function findMissingMarks(connection: Connection, marks: readonly Mark[]): Promise<readonly Mark[]> {
  if (marks.length === 0) return marks;
  const { rows } = await connection.query<{ readonly pos: number; readonly hash: string }>(
    `select m.pos, m.hash from unnest($1::bigint[], $2::text[]) as m(pos, hash)
     where not exists (select 1 from events e where e.pos = m.pos and e.hash = m.hash)
       and not exists (select 1 from pruned_claims p where p.pos = m.pos and p.hash = m.hash)`,
    [marks.map(({ pos }) => pos), marks.map(({ hash }) => hash)],
  );
  return rows;
}

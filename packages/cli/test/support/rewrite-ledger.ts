import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { chainHash, NO_HASH } from "../../../store/src/write/chain.ts";

type Row = {
  readonly pos: number;
  readonly session: string;
  readonly seq: number;
  readonly epoch: number;
  readonly at: string;
  readonly type: string;
  readonly v: number;
  readonly body: string;
  readonly hash: string;
};

/** Changes bodies, and then everything that would show it: all later hashes, what names them, the lists and the marks. */
export function rewriteLedger(store: string, change: (body: string) => string): void {
  const database = new DatabaseSync(join(store, "ledger.db"));
  const { value: id } = database.prepare("select value from meta where key = 'store'").get() as { value: string };
  const renamed = new Map<string, string>();
  const heads = new Map<string, string>();
  const update = database.prepare("update events set body = ?, prev = ?, hash = ? where pos = ?");
  for (const row of database.prepare("select * from events order by pos").all() as unknown as Row[]) {
    const body = [...renamed].reduce((text, [old, now]) => text.replaceAll(old, now), change(row.body));
    const prev = heads.get(row.session) ?? NO_HASH;
    const hash = chainHash({ ...row, store: id, body, prev });
    heads.set(row.session, hash);
    if (hash !== row.hash) renamed.set(row.hash, hash);
    update.run(body, prev, hash, row.pos);
  }
  for (const table of ["sessions", "snapshots"])
    for (const [old, now] of renamed) database.prepare(`update ${table} set hash = ? where hash = ?`).run(now, old);
  database.close();
  for (const name of readdirSync(join(store, "marks"))) {
    const now = [...renamed].reduce((text, [old, hash]) => text.replace(old, hash), name);
    if (now !== name) renameSync(join(store, "marks", name), join(store, "marks", now));
  }
}

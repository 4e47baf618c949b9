import type { Ledger, Lists, PageQuery } from "../../ledger-port.ts";

/** Reads the row with exactly this id, in any state; undefined if there is none. */
export async function readRow<K extends keyof Lists>(ledger: Pick<Ledger, "pending">, kind: K, id: string): Promise<Lists[K] | undefined> {
  const [row] = await ledger.pending(kind, { prefix: id, all: true, limit: 1 });
  return row?.id === id ? row : undefined;
}

const PAGE = 1_000;

/** Reads all rows of a list, page by page. `limit` is the size of a page. */
export async function* readRows<K extends keyof Lists>(
  ledger: Pick<Ledger, "pending">,
  kind: K,
  query: PageQuery = {},
): AsyncGenerator<Lists[K]> {
  const { limit = PAGE } = query;
  for (let { after } = query; ; ) {
    const rows: readonly Lists[K][] = await ledger.pending(kind, { ...query, limit, ...(after !== undefined && { after }) });
    yield* rows;
    after = rows.at(-1)?.id;
    if (rows.length < limit) return;
  }
}

/** All rows of a list, as `readRows` reads them. */
export async function listRows<K extends keyof Lists>(ledger: Pick<Ledger, "pending">, kind: K, query?: PageQuery): Promise<Lists[K][]> {
  const all: Lists[K][] = [];
  for await (const row of readRows(ledger, kind, query)) all.push(row);
  return all;
}

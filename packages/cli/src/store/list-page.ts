import type { Ledger, Lists, PageQuery } from "@assent/core";
import type { Context } from "../command-line/spec.ts";
import { printJson } from "../io/output.ts";
import { type Column, textTable } from "../io/text-table.ts";
import { oneLine } from "../io/visible-text.ts";
import { findRow } from "./find-row.ts";

export type Listing<K extends keyof Lists> = {
  readonly kind: K;
  readonly query: PageQuery;
  /** A condition that the ledger cannot index. */
  readonly keep?: (row: Lists[K]) => boolean;
  readonly json: (row: Lists[K]) => unknown;
  readonly columns: readonly Column[];
  readonly cells: (row: Lists[K]) => readonly string[];
  readonly none: string;
  /** The printed command for the next page, without paging options. */
  readonly command: string;
};

const DEFAULT_LIMIT = 100;

export async function printList<K extends keyof Lists>(context: Context, ledger: Ledger, listing: Listing<K>): Promise<number> {
  const { io, options } = context;
  const limit = options.count("limit") ?? DEFAULT_LIMIT;
  const after = options.text("after");
  const start = after === undefined ? undefined : (await findRow(ledger, listing.kind, after)).id;
  const rows = await collect(ledger, listing, start, limit + 1);
  const page = rows.slice(0, limit);
  if (options.flag("json")) await printJson(io, page.map(listing.json));
  else
    await io.stdout.write(
      page.length === 0 ? `${listing.none}\n` : textTable(listing.columns, page.map(listing.cells), io.stdout.columns()),
    );
  const last = page.at(-1);
  if (rows.length > limit && last) await io.stderr.write(`For more: ${oneLine(listing.command)} --limit ${limit} --after ${last.id}\n`);
  return 0;
}

async function collect<K extends keyof Lists>(
  ledger: Ledger,
  { kind, query, keep }: Listing<K>,
  after: string | undefined,
  wanted: number,
): Promise<Lists[K][]> {
  const kept: Lists[K][] = [];
  let from = after;
  while (kept.length < wanted) {
    const rows = await ledger.pending(kind, { ...query, limit: wanted, ...(from !== undefined && { after: from }) });
    kept.push(...(keep ? rows.filter(keep) : rows));
    from = rows.at(-1)?.id;
    if (rows.length < wanted) break;
  }
  return kept.slice(0, wanted);
}

import { resolve } from "node:path";
import { type LedgerCopy, readLedgerCopy, writeLedgerCopy } from "@assent/store";
import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { isPostgresUrl } from "../../store/location.ts";
import { withStore } from "../../store/open.ts";

/** Opening brings the record up to date. */
export async function migrateRecord(context: Context): Promise<number> {
  const { io, options } = context;
  const events = await withStore(context, ({ ledger }) => ledger.head());
  if (options.flag("json")) await printJson(io, { events });
  else await io.stdout.write(`The record is up to date: ${events} events.\n`);
  return 0;
}

/** Copies between directories and PostgreSQL, in either direction. */
export async function copyRecord({ io, options, operands }: Context): Promise<number> {
  const [from = "", to = ""] = operands;
  const events = await readCopy(io.cwd, from, (copy) => writeCopy(io.cwd, to, copy));
  if (options.flag("json")) await printJson(io, { events });
  else await io.stdout.write(`Copied ${events} events. Check the copy with: assent verify --store TO\n`);
  return 0;
}

async function readCopy(cwd: string, from: string, work: (copy: LedgerCopy) => Promise<number>): Promise<number> {
  if (!isPostgresUrl(from)) return readLedgerCopy(resolve(cwd, from), work);
  const { readPostgresCopy } = await import("@assent/store-postgres");
  return readPostgresCopy(from, work);
}

async function writeCopy(cwd: string, to: string, copy: LedgerCopy): Promise<number> {
  if (!isPostgresUrl(to)) return writeLedgerCopy(resolve(cwd, to), copy);
  const { writePostgresCopy } = await import("@assent/store-postgres");
  return writePostgresCopy(to, copy);
}

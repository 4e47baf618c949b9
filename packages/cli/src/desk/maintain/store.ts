import { resolve } from "node:path";
import { hasStore, type LedgerCopy, readLedgerCopy, writeLedgerCopy } from "@assent/store";
import { shellWord } from "../../command-line/shell-word.ts";
import type { Context } from "../../command-line/spec.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { counted } from "../../io/visible-text.ts";
import { isPostgresUrl, storeUrl, withoutPassword } from "../../store/location.ts";
import { withStore } from "../../store/open.ts";

/** Opening brings the record up to date. A new one has the event that created it. */
export async function migrateRecord(context: Context): Promise<number> {
  const { io, options } = context;
  const events = await withStore(context, ({ ledger }) => ledger.head());
  if (options.flag("json")) await printJson(io, { events });
  else
    await io.stdout.write(
      events === 1 ? "The record is ready. It is empty.\n" : `The record is up to date: ${counted(events, "event")}.\n`,
    );
  return 0;
}

/** Only a database has roles. */
export async function createRoles(context: Context): Promise<number> {
  const { io, options } = context;
  const url = storeUrl(context);
  if (url === undefined) throw usageError("store roles", "only a record on PostgreSQL has roles. Name it: --store postgres://…");
  const { createPostgresRoles } = await import("@assent/store-postgres");
  const prefix = options.text("prefix");
  const dryRun = options.flag("dry-run");
  const { roles, script } = await createPostgresRoles({ url, dryRun, ...(prefix !== undefined && { prefix }) });
  if (options.flag("json")) await printJson(io, dryRun ? { roles, script } : { roles });
  else await io.stdout.write(dryRun ? script : rolesText(roles));
  return 0;
}

function rolesText(roles: readonly string[]): string {
  const agent = roles.find((name) => name.endsWith("_agent")) ?? "";
  return `The roles are ready: ${roles.join(", ")}.\nGive them to your logins, for example: create role ci login password '…' in role ${agent};\n`;
}

/** Copies between directories and PostgreSQL, in either direction. */
export async function copyRecord({ io, options, operands }: Context): Promise<number> {
  const [from = "", to = ""] = operands;
  const events = await readCopy(io.cwd, from, (copy) => writeCopy(io.cwd, to, copy));
  if (options.flag("json")) await printJson(io, { events });
  else
    await io.stdout.write(
      `Copied ${counted(events, "event")}. Check the copy with: assent verify --store ${shellWord(isPostgresUrl(to) ? withoutPassword(to) : to)}\n`,
    );
  return 0;
}

async function readCopy(cwd: string, from: string, work: (copy: LedgerCopy) => Promise<number>): Promise<number> {
  if (!isPostgresUrl(from)) {
    const directory = resolve(cwd, from);
    if (!hasStore(directory))
      throw new CommandError("store_unavailable", 1, {
        message: `There is no ledger in ${directory}.`,
        hint: "FROM must be the directory that has ledger.db, or a postgres:// URL. To see where your record is: assent doctor",
      });
    return readLedgerCopy(directory, work);
  }
  const { readPostgresCopy } = await import("@assent/store-postgres");
  return readPostgresCopy(from, work);
}

async function writeCopy(cwd: string, to: string, copy: LedgerCopy): Promise<number> {
  if (!isPostgresUrl(to)) return writeLedgerCopy(resolve(cwd, to), copy);
  const { writePostgresCopy } = await import("@assent/store-postgres");
  return writePostgresCopy(to, copy);
}

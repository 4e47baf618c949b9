import type { Ledger } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { printJson } from "../../io/output.ts";
import { textTable } from "../../io/text-table.ts";
import { oneLine } from "../../io/visible-text.ts";
import { findRow } from "../../store/find-row.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { listWaiting, type WaitingItem, type WaitingPage, waitingCells, waitingKind } from "./waiting-list.ts";

const DEFAULT_LIMIT = 100;

export function listApprovals(context: Context): Promise<number> {
  const { io, options } = context;
  const limit = options.count("limit") ?? DEFAULT_LIMIT;
  return withStoreIfAny(context, async ({ ledger }) => {
    const query = await queryOf(context, ledger);
    const rows = await listWaiting(ledger, { query, after: await startOf(ledger, options.text("after")), limit: limit + 1 });
    const page = rows.slice(0, limit);
    await print(context, page);
    const last = page.at(-1);
    if (rows.length > limit && last)
      await io.stderr.write(`For more: ${oneLine(commandOf(context, query))} --limit ${limit} --after ${last.id}\n`);
    return 0;
  });
}

async function queryOf({ options }: Context, ledger: Ledger): Promise<WaitingPage["query"]> {
  const [session, tool, all] = [options.text("session"), options.text("tool"), options.flag("all")];
  const id = session === undefined ? undefined : (await findRow(ledger, "sessions", session)).id;
  return { all, ...(id !== undefined && { session: id }), ...(tool !== undefined && { tool }) };
}

async function startOf(ledger: Ledger, after: string | undefined): Promise<WaitingPage["after"]> {
  if (after === undefined) return undefined;
  const row = await findRow(ledger, waitingKind(after), after);
  const since = "requestedAt" in row ? row.requestedAt : "askedAt" in row ? row.askedAt : row.stagedAt;
  return { id: row.id, since };
}

async function print({ io, options }: Context, page: readonly WaitingItem[]): Promise<void> {
  const all = options.flag("all");
  if (options.flag("json"))
    return printJson(
      io,
      page.map(({ form, state, edited }) => (all ? { ...form, state, ...(edited && { edited }) } : form)),
    );
  if (page.length === 0) return io.stdout.write(all ? "No approvals.\n" : "Nothing waits for an answer.\n");
  const columns = ["id", ...(all ? ["state"] : []), "tool", "since", { shrinks: "what" }];
  const cells = page.map((row) => waitingCells(row, all));
  return io.stdout.write(textTable(columns, cells, io.stdout.columns()));
}

function commandOf(context: Context, { session, tool, all }: WaitingPage["query"]): string {
  return ["assent approvals", session && ` --session ${session}`, tool && ` --tool ${tool}`, all && " --all", storeFlag(context)]
    .filter(Boolean)
    .join("");
}

import { createSystemClock } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { asFailure, CommandError, usageError } from "../../io/failure.ts";
import { printFailure } from "../../io/output.ts";
import { textTable } from "../../io/text-table.ts";
import { findNamedSession, findRow } from "../../store/find-row.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { confirmInTerminal } from "../terminal/confirm.ts";
import { listWaiting, type WaitingItem, waitingCells, waitingKind } from "./waiting-list.ts";

type AnswerCommand = { readonly command: "approve" | "reject"; readonly one: (context: Context) => Promise<number> };

const FOR_ONE = ["edit", "file", "hunk", "part", "fingerprint", "write", "preview", "run", "outcome", "answers", "pattern"] as const;

/** Answers several approvals after a person saw them in a list. Each answer is its own record. Returns the worst exit code. */
export async function answerSeveral(context: Context, { command, one }: AnswerCommand): Promise<number> {
  const { io, options } = context;
  const foreign = FOR_ONE.find((name) => options.flag(name));
  if (foreign !== undefined) throw usageError(command, `option '--${foreign}' is for one approval; give a single id.`);
  const items = await withStoreIfAny(context, async ({ ledger }) => {
    const session = await findNamedSession(context, ledger);
    if (session === undefined) return await namedItems(context, ledger);
    if (context.operands.length > 0) throw usageError(command, "give ids, or --session, not both.");
    return await listWaiting(ledger, { query: { session }, after: undefined, limit: MOST });
  });
  const asked = items.filter(({ tool }) => command === "reject" || tool !== "ask");
  if (asked.length < items.length) await io.stderr.write("Questions need answers of their own, so they are left out.\n");
  if (asked.length === 0) {
    await io.stderr.write("Nothing waits for an answer.\n");
    return 0;
  }
  if (!(await isConfirmed(context, command, asked))) return 1;
  let exit = 0;
  for (const item of asked) exit = Math.max(exit, await answerItem(context, item, one));
  return exit;
}

const MOST = 1_000;

async function namedItems({ operands }: Context, ledger: Parameters<typeof listWaiting>[0]): Promise<readonly WaitingItem[]> {
  const ids = new Set<string>();
  for (const given of operands) ids.add((await findRow(ledger, waitingKind(given), given)).id);
  const all = await listWaiting(ledger, { query: {}, after: undefined, limit: MOST });
  const gone = [...ids].filter((id) => !all.some((item) => item.id === id));
  if (gone.length > 0)
    throw new CommandError("already_answered", 1, {
      message: `No longer open: ${gone.join(", ")}. Nothing was answered.`,
      hint: "assent approvals",
    });
  return all.filter(({ id }) => ids.has(id));
}

async function isConfirmed(context: Context, command: string, items: readonly WaitingItem[]): Promise<boolean> {
  const { io, options } = context;
  if (options.flag("yes")) return true;
  if (!io.stdinIsTTY) throw usageError(command, "give '--yes' to answer several without a terminal.");
  const columns = ["id", "tool", "age", "what"];
  const now = (context.overrides.clock ?? createSystemClock()).now();
  const rows = items.map((item) => waitingCells(item, false, now));
  const list = textTable(columns, rows, undefined);
  const question = `${command === "approve" ? "Approve" : "Reject"} these ${items.length}? (y/N) `;
  return await confirmInTerminal(context, { lines: list.trimEnd().split("\n"), question, declined: "Nothing was answered." });
}

/** The answer is bound to the fingerprint of the list; a proposal has its own check. */
async function answerItem(context: Context, { id, form }: WaitingItem, one: AnswerCommand["one"]): Promise<number> {
  const { options } = context;
  const fingerprint = waitingKind(id) === "approvals" ? String(form["fingerprint"]) : undefined;
  const bound = { ...options, text: (name: string) => (name === "fingerprint" ? fingerprint : options.text(name)) };
  try {
    return await one({ ...context, operands: [id], options: bound });
  } catch (error) {
    const failure = asFailure(error);
    await printFailure(context.io, { ...failure, message: `${id}: ${failure.message}` }, options.flag("json"));
    return failure.exit;
  }
}

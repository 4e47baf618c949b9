import type { JsonObject, Ledger } from "@assent/core";
import { createSystemClock } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { createRedactions } from "../../compose/redaction.ts";
import { createSessionViews, NAMES, type SessionView } from "../../inbox/rows.ts";
import { cut, LIST_WIDTH, wrapWords } from "../../io/display-width.ts";
import { printJson } from "../../io/output.ts";
import { textTable } from "../../io/text-table.ts";
import { oneLine } from "../../io/visible-text.ts";
import { findNamedSession, findRow } from "../../store/find-row.ts";
import { storeFlag } from "../../store/location.ts";
import { withStoreIfAny } from "../../store/open.ts";
import { agentTask } from "../sessions/agent-session.ts";
import { ruleOffers } from "./remember.ts";
import { listWaiting, type WaitingItem, type WaitingPage, waitingCells, waitingKind } from "./waiting-list.ts";

const DEFAULT_LIMIT = 100;

export function listApprovals(context: Context): Promise<number> {
  const { io, options } = context;
  const limit = options.count("limit") ?? DEFAULT_LIMIT;
  return withStoreIfAny(context, async ({ ledger }) => {
    const query = await queryOf(context, ledger);
    const rows = await listWaiting(ledger, { query, after: await startOf(ledger, options.text("after")), limit: limit + 1 });
    const page = rows.slice(0, limit);
    await print(context, ledger, page);
    const last = page.at(-1);
    if (rows.length > limit && last)
      await io.stderr.write(`For more: ${oneLine(commandOf(context, query))} --limit ${limit} --after ${last.id}\n`);
    return 0;
  });
}

async function queryOf(context: Context, ledger: Ledger): Promise<WaitingPage["query"]> {
  const [tool, all] = [context.options.text("tool"), context.options.flag("all")];
  const id = await findNamedSession(context, ledger);
  return { all, ...(id !== undefined && { session: id }), ...(tool !== undefined && { tool }) };
}

async function startOf(ledger: Ledger, after: string | undefined): Promise<WaitingPage["after"]> {
  if (after === undefined) return undefined;
  const row = await findRow(ledger, waitingKind(after), after);
  const since = "requestedAt" in row ? row.requestedAt : "askedAt" in row ? row.askedAt : row.stagedAt;
  return { id: row.id, since };
}

async function print({ io, options, overrides }: Context, ledger: Ledger, page: readonly WaitingItem[]): Promise<void> {
  const all = options.flag("all");
  const now = (overrides.clock ?? createSystemClock()).now();
  const viewOf = createSessionViews(ledger);
  const views = await Promise.all(page.map(({ session }) => viewOf(session)));
  const redactionOf = createRedactions(io, NAMES);
  const hide = <T>({ directory }: Pick<WaitingItem, "directory">, view: SessionView | undefined, value: T): T =>
    options.flag("raw") ? value : redactionOf(directory || view?.cwd || io.cwd).value(value);
  if (options.flag("json"))
    return printJson(
      io,
      await Promise.all(page.map(async (item, at) => hide(item, views[at], await longForm(ledger, { item, view: views[at], all, now })))),
    );
  if (page.length === 0) return io.stdout.write(all ? "No approvals.\n" : "Nothing waits for an answer.\n");
  const shown = page.map(({ row: _row, form: _form, ...item }, at) => hide(item, views[at], { item, view: views[at] }));
  const columns = ["id", ...(all ? ["state"] : []), "tool", "age", { shrinks: "what" }];
  const width = io.stdout.columns();
  const cells = shown.map(({ item }) => waitingCells({ ...item, subject: cut(item.subject, LIST_WIDTH) }, all, now));
  const [heading = "", ...lines] = textTable(columns, cells, width).split("\n");
  if (lines.length !== page.length + 1) return io.stdout.write([heading, ...lines].join("\n")); // too narrow for a table
  const named = nameSessions(views);
  const rows = shown.flatMap(({ item, view }, at) => [
    lines[at] ?? "",
    originLine(item, view && { ...view, agent: named(views[at], view) }, width),
  ]);
  return io.stdout.write([heading, ...rows, ""].join("\n"));
}

/** Returns a function that names an agent, with the end of its session id if several sessions of it are listed. */
function nameSessions(views: readonly (SessionView | undefined)[]): (view: SessionView | undefined, shown: SessionView) => string {
  const groups = new Map<string, Set<string>>();
  for (const view of views) if (view?.outside) groups.set(view.agent, (groups.get(view.agent) ?? new Set()).add(view.group));
  return (view, { agent }) => (view?.outside && (groups.get(view.agent)?.size ?? 0) > 1 ? `${agent} …${view.group.slice(-ID_END)}` : agent);
}

const ID_END = 6;

/** Where a request comes from, and why it asks. */
function originLine(
  { why, directory }: Pick<WaitingItem, "why" | "directory">,
  view: SessionView | undefined,
  width: number | undefined,
): string {
  const title = width === undefined ? (view?.title ?? "") : cut(view?.title ?? "", Math.max(MIN_TITLE, Math.floor(width / 3)));
  const line = `  ${oneLine([title, view?.agent, directory || view?.cwd, why].join(" · "))}`;
  return width === undefined
    ? line
    : wrapWords(line.trim(), width - 2)
        .map((part) => `  ${part}`)
        .join("\n");
}

const MIN_TITLE = 20;

type LongForm = { readonly item: WaitingItem; readonly view: SessionView | undefined; readonly all: boolean; readonly now: number };

/** With everything that a program needs to show the request: its command and the rules that "always" would store. */
async function longForm(ledger: Ledger, { item, view, all, now }: LongForm): Promise<JsonObject> {
  const { form, state, edited, why, since, directory, row } = item;
  const details = row && (await ledger.resolve(row.details as JsonObject));
  const agent = row && (await agentTask(ledger, row.session));
  return {
    ...form,
    ...{
      sessionTitle: view?.title ?? "",
      agent: view?.agent ?? "",
      group: view?.group ?? "",
      directory: directory || (view?.cwd ?? ""),
      mode: view?.mode ?? "",
    },
    ...{ why, ageSeconds: Math.max(0, Math.floor((now - Date.parse(since)) / 1_000)) },
    ...(details?.["type"] === "exec" && { command: details["command"] ?? "" }),
    ...(row && { offers: ruleOffers({ ...row, ...(agent && { agentName: agent }) }).map(({ key: _key, ...offer }) => offer) }),
    ...(all && { state, ...(edited && { edited }) }),
  };
}

function commandOf(context: Context, { session, tool, all }: WaitingPage["query"]): string {
  return ["assent approvals", session && ` --session ${session}`, tool && ` --tool ${tool}`, all && " --all", storeFlag(context)]
    .filter(Boolean)
    .join("");
}

import { resolve } from "node:path";
import { messageOf } from "@assent/core";
import { createHostPorts } from "@assent/host";
import { type Anchor, anchorText, parseAnchor, type VerifyReport, verifyStore } from "@assent/store";
import type { ReadStreams } from "../../audit/read-streams.ts";
import type { Context } from "../../command-line/spec.ts";
import { asFailure, CommandError, usageError } from "../../io/failure.ts";
import { printJson } from "../../io/output.ts";
import { readNamed } from "../../io/read-input.ts";
import { counted, oneLine } from "../../io/visible-text.ts";
import { findRow } from "../../store/find-row.ts";
import { stateDirectory, storeUrl } from "../../store/location.ts";
import { hasRecord, withStoreIfAny } from "../../store/open.ts";

export async function verifyRecord(context: Context): Promise<number> {
  const { io, options, overrides } = context;
  const directory = await stateDirectory(context);
  if (!hasRecord(context, directory))
    throw new CommandError("store_unavailable", 1, {
      message: `There is no ledger in ${directory}.`,
      hint: "Use --store to name its directory.",
    });
  const { files, processes } = createHostPorts({ stateDirectory: directory });
  const { clock, openDatabase } = overrides;
  const [session, anchor, stream] = [await sessionOf(context), await anchorOf(context), await streamAnchorsOf(context)];
  const anchors = [...anchor, ...(stream?.anchors ?? [])];
  const scope = { directory, ...(session !== undefined && { session }), anchors };
  const url = storeUrl(context);
  const repairs = { repair: options.flag("repair"), rebuild: options.flag("rebuild") };
  if (url !== undefined && (repairs.repair || repairs.rebuild)) throw notRepairable();
  const check =
    url === undefined
      ? verifyStore({
          ...{ ...scope, ...repairs, startOf: processes.startOf },
          ...(clock && { clock }),
          ...(openDatabase && { openDatabase }),
        })
      : (await import("@assent/store-postgres")).verifyPostgres({ ...scope, url });
  const report = await check.catch(withoutHint);
  const target = options.text("export-anchor");
  if (target !== undefined && report.ok) await files.replace(resolve(io.cwd, target), anchorText(report), { mode: 0o600 });
  const compared = stream && countsOf(stream, report.store);
  if (options.flag("json")) await printJson(io, { ...report, ...(compared && { compared }) });
  else await io.stdout.write(`${text(report, target)}${compared ? comparedText(compared) : ""}`);
  return report.ok ? 0 : 1;
}

function notRepairable(): CommandError {
  return usageError(
    "verify",
    "a ledger on PostgreSQL is not repaired in place. Copy it to a directory with assent store copy, repair it there, and copy it to a new schema.",
  );
}

/** The usual hint would be this command itself. */
function withoutHint(error: unknown): never {
  const { type, exit, message } = asFailure(error);
  throw type === "store_corrupt" ? new CommandError(type, exit, { message }) : error;
}

function sessionOf(context: Context): Promise<string | undefined> {
  const [given] = context.operands;
  if (given === undefined) return Promise.resolve(undefined);
  if (context.options.flag("export-anchor")) throw usageError("verify", "an anchor covers the whole record; omit SESSION.");
  return withStoreIfAny(context, async ({ ledger }) => (await findRow(ledger, "sessions", given)).id);
}

async function streamAnchorsOf({ io, options }: Context): Promise<ReadStreams | undefined> {
  const files = options.list("anchors");
  if (files.length === 0) return undefined;
  const { readStreams } = await import("../../audit/read-streams.ts");
  const read = await readStreams(files.map((file) => resolve(io.cwd, file)));
  if (read.anchors.length > 0) return read;
  throw usageError(
    "verify",
    `there is no event and no anchor in ${files.join(", ")}. Name files that 'assent log --format jsonl' or the setting audit wrote. A file of --export-anchor belongs to --anchor.`,
  );
}

type StreamCounts = { readonly events: number; readonly otherLedgers: number; readonly unreadableLines: number };

function countsOf({ anchors, unreadable }: ReadStreams, store: string): StreamCounts {
  const count = (own: boolean): number => anchors.reduce((sum, one) => sum + ((one.store === store) === own ? one.heads.length : 0), 0);
  return { events: count(true), otherLedgers: count(false), unreadableLines: unreadable };
}

function comparedText({ events, otherLedgers, unreadableLines }: StreamCounts): string {
  const more = [
    ...(otherLedgers > 0 ? [`${counted(otherLedgers, "event")} of other ledgers left out`] : []),
    ...(unreadableLines > 0 ? [`${counted(unreadableLines, "line")} not readable`] : []),
  ];
  return `Compared with ${counted(events, "streamed event")}${more.length > 0 ? ` (${more.join(", ")})` : ""}.\n`;
}

async function anchorOf({ io, options }: Context): Promise<readonly Anchor[]> {
  const file = options.text("anchor");
  if (file === undefined) return [];
  const content = await readNamed(io, file, "verify");
  try {
    return [parseAnchor(content)];
  } catch (error) {
    throw usageError("verify", `'${file}' is not a file of --export-anchor: ${messageOf(error)}. A stream belongs to --anchors.`);
  }
}

function text({ ok, sessions, events, findings, repaired = [] }: VerifyReport, target: string | undefined): string {
  const lines = findings.map(({ severity, type, session, seq, message, hint }) => {
    const where = session === null ? "" : ` ${session}${seq === null ? "" : `#${seq}`}`;
    return `${severity}: ${type}${where}: ${oneLine(message)} (${oneLine(hint)})\n`;
  });
  const cut = repaired.map(
    ({ session, goodSeq, lostFrom }) => `repaired: ${session}: kept up to #${goodSeq}, set aside from #${lostFrom}\n`,
  );
  const anchor =
    target === undefined ? "" : ok ? `Anchor written to ${oneLine(target)}\n` : "No anchor was written, because the record has errors.\n";
  const result = ok ? `No ${findings.length === 0 ? "problems" : "errors"} found` : "Problems found";
  return `${lines.join("")}${cut.join("")}${result}: ${counted(sessions, "session")}, ${counted(events, "event")}.\n${anchor}`;
}

import { type Cursor, EVENT_TYPES, type EventFilter, type Ledger, type StoredEvent } from "@assent/core";
import { createSystemClock } from "@assent/host";
import { createAnchorMaker, entryLine, type StreamEntry } from "../../audit/entry.ts";
import { otlpRequest } from "../../audit/otlp.ts";
import { nearestSpelling } from "../../command-line/nearest-spelling.ts";
import type { Context } from "../../command-line/spec.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { jsonLine } from "../../io/output.ts";
import { findRow } from "../../store/find-row.ts";
import { withStore, withStoreIfAny } from "../../store/open.ts";
import { eventLine } from "./event-line.ts";
import { redactedLine } from "./redacted-line.ts";

type LogQuery = {
  readonly from: Cursor;
  readonly filter: EventFilter;
  readonly keep: (event: StoredEvent) => boolean;
  readonly line: (event: StoredEvent) => string;
  /** The anchor of what was printed since the last one. */
  readonly anchor: () => string;
};

export function printLog(context: Context): Promise<number> {
  const { options } = context;
  const open = options.flag("follow") ? withStore : withStoreIfAny;
  return open(context, async ({ ledger }) => {
    const wanted = await read(context, ledger);
    return options.flag("follow") ? follow(context, ledger, wanted) : print(context, ledger, wanted);
  });
}

async function read(context: Context, ledger: Ledger): Promise<LogQuery> {
  const { io, options, operands } = context;
  const session = operands[0] === undefined ? undefined : (await findRow(ledger, "sessions", operands[0])).id;
  const call = options.text("call");
  const wantedType = options.text("type");
  const type = globMatcher(wantedType);
  if (wantedType !== undefined) await refuseUnknownType(ledger, wantedType, type);
  const types = session === undefined && call === undefined ? typesLike(wantedType, type) : undefined;
  const since = parseSince(options.text("since"));
  return {
    from: session === undefined ? { pos: since.place } : { session, seq: since.place },
    filter: { ...(session !== undefined && { session, naming: session }), ...(call !== undefined && { call }), ...(types && { types }) },
    keep: (event) => event.at >= since.time && type(event.type),
    ...lineWriter(context, ledger.storeId, (event) => eventLine(event, { columns: io.stdout.columns(), session })),
  };
}

function lineWriter(context: Context, store: string, text: LogQuery["line"]): Pick<LogQuery, "line" | "anchor"> {
  const { options, overrides } = context;
  const format = options.text("format");
  if (format !== undefined && format !== "text" && options.flag("json"))
    throw usageError("log", `--json prints events alone, so it cannot be used with --format ${format}.`);
  if (format === undefined || format === "text")
    return { line: redactedLine(context, options.flag("json") ? jsonLine : text), anchor: () => "" };
  const anchors = createAnchorMaker();
  const clock = overrides.clock ?? createSystemClock();
  const print = format === "jsonl" ? entryLine : (entry: StreamEntry) => jsonLine(otlpRequest([entry], clock.now()));
  return {
    line: redactedLine(context, (event) => {
      anchors.add(event);
      return print({ store, event }) + (anchors.waiting() < ANCHOR_EVENTS ? "" : anchorLine());
    }),
    anchor: anchorLine,
  };

  function anchorLine(): string {
    const anchor = anchors.take(clock.now());
    return anchor ? print({ store, anchor }) : "";
  }
}

/** While following, an anchor comes after so many events, or so many milliseconds after the first one without. */
const ANCHOR_EVENTS = 1_000;
const ANCHOR_MS = 10_000;

function parseSince(text: string | undefined): { readonly place: number; readonly time: string } {
  if (text === undefined) return { place: 0, time: "" };
  if (/^[0-9]{1,15}$/.test(text)) return { place: Number(text), time: "" };
  const time = /^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw usageError("log", `option '--since' must be a sequence number or a time such as 2026-01-31T08:00:00Z, not '${text}'.`);
  return { place: 0, time: new Date(time).toISOString() };
}

function globMatcher(glob: string | undefined): (type: string) => boolean {
  if (glob === undefined) return () => true;
  const pieces = glob.split("*").map((piece) => piece.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  const pattern = new RegExp(`^${pieces.join(".*")}$`);
  return (type) => pattern.test(type);
}

/** Accepts a type that only a newer version knows if the record has such an event. */
async function refuseUnknownType(ledger: Ledger, wanted: string, matches: (type: string) => boolean): Promise<void> {
  if (EVENT_TYPES.some(matches)) return;
  for await (const _ of ledger.read({ pos: 0 }, { types: [wanted] })) return;
  const near = nearestSpelling(wanted, EVENT_TYPES);
  const meant = near === undefined ? "" : ` Did you mean '${near}'?`;
  throw usageError("log", `there is no event type '${wanted}'.${meant} Types: ${EVENT_TYPES.join(", ")}.`);
}

/** Lets the ledger use an index; unknown types must be named in full. */
function typesLike(glob: string | undefined, matches: (type: string) => boolean): readonly string[] | undefined {
  if (glob === undefined || glob === "*") return undefined;
  return glob.includes("*") ? EVENT_TYPES.filter(matches) : [glob];
}

async function print({ io, options }: Context, ledger: Ledger, { from, filter, keep, line, anchor }: LogQuery): Promise<number> {
  let seen = false;
  for await (const event of ledger.read(from, filter)) {
    seen = true;
    if (keep(event)) await io.stdout.write(line(event));
  }
  await io.stdout.write(anchor());
  const call = options.text("call");
  const isFromStart = ("pos" in from ? from.pos : from.seq) === 0;
  if (!seen && call !== undefined && isFromStart) {
    throw new CommandError("unknown_call", 4, { message: `There is no call '${call}' here.`, hint: "assent log --type call.proposed" });
  }
  return 0;
}

function follow({ io, overrides }: Context, ledger: Ledger, { from, filter, keep, line, anchor }: LogQuery): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const clock = overrides.clock ?? createSystemClock();
  let writing = Promise.resolve();
  let cancelTimer: (() => void) | undefined;
  const write = (text: () => string): void => {
    writing = writing.then(() => io.stdout.write(text())).catch(reject);
  };
  let isStopping = false;
  const offSignal = io.onSignal(() => {
    if (isStopping) resolve(130); // the reader does not read
    isStopping = true;
    subscription.close();
    write(anchor);
    void writing.then(() => resolve(130));
  });
  const tell = (event: StoredEvent): void => {
    if (!keep(event)) return;
    write(() => (isStopping ? "" : line(event)));
    cancelTimer ??= clock.timer(ANCHOR_MS, () => {
      cancelTimer = undefined;
      write(anchor);
    });
  };
  const subscription = ledger.subscribe(from, filter, tell, reject);
  return promise.finally(() => {
    subscription.close();
    cancelTimer?.();
    offSignal();
  });
}

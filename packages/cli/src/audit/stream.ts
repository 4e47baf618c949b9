import { join } from "node:path";
import { type Clock, type Ledger, messageOf, type StoredEvent } from "@assent/core";
import { nodeDigest } from "@assent/host";
import { type AuditDestination, createValueRedactor } from "@assent/policy";
import { openSharedNote, type SharedNote } from "@assent/store";
import type { Context } from "../command-line/spec.ts";
import { readOwnSettings, settingsFault } from "../compose/own-settings.ts";
import type { Io } from "../io/io.ts";
import type { Store } from "../store/store.ts";
import { deliver, destinationName } from "./deliver.ts";
import { createAnchorMaker, entryLine, type StreamEntry } from "./entry.ts";

/** What is remembered about a destination: the last event that it has, and what went wrong since. */
export type DestinationState = {
  /** 0: nothing was sent yet. */
  readonly pos: number;
  /** Of the event at `pos`, to notice a record that was set back. */
  readonly hash?: string;
  readonly sentAt?: string;
  /** Set while events cannot be sent. */
  readonly problem?: { readonly since: string; readonly triedAt: string; readonly reason: string };
  /** What the destination said about entries that it has. */
  readonly note?: string;
};

/** One destination of the stream. */
export type AuditTarget = {
  readonly name: string;
  readonly state: () => DestinationState;
  /** Sends the next entries. `busy`: another process sends to this destination at the moment. */
  readonly send: (signal: AbortSignal) => Promise<"sent" | "all sent" | "busy" | { readonly problem: string }>;
  readonly close: () => void;
};

const MOST_EVENTS = 500;
const MOST_CHARS = 1_048_576;

/**
 * Opens every destination of the settings. Each remembers its own position, in the state directory of this machine. None is opened if the settings
 * have a fault, which could have removed a pattern of secrets.
 */
export function openTargets({ io }: Pick<Context, "io">, { ledger, directory }: Store, clock: Clock): readonly AuditTarget[] {
  if (settingsFault(io)) return [];
  const { audit, "redaction.patterns": patterns } = readOwnSettings(io, io.cwd); // a project can add only what to hide
  const redact = createValueRedactor(patterns);
  return audit.map((to) => {
    const place = nodeDigest.sha256(JSON.stringify("file" in to ? to.file : "webhook" in to ? to.webhook : to.otlp)).slice(0, 16);
    const note = openSharedNote(join(directory, "audit", `${ledger.storeId}-${place}.db`));
    return openTarget(to, { ledger, note, clock, env: io.env, redact });
  });
}

type TargetParts = {
  readonly ledger: Ledger;
  readonly note: SharedNote;
  readonly clock: Clock;
  readonly env: Io["env"];
  readonly redact: (body: StoredEvent["body"]) => StoredEvent["body"];
};

/**
 * Sends events in order and at least once: the position moves only after the destination has them. Only one process at a time sends to a
 * destination. Its lock and the position are in the same file, so a killed process leaves neither a lock nor a gap.
 */
function openTarget(to: AuditDestination, { ledger, note, clock, env, redact }: TargetParts): AuditTarget {
  let most = MOST_EVENTS;
  const send: AuditTarget["send"] = async (signal) => {
    const taken = note.take();
    if (!taken) return "busy";
    try {
      const before = readState(taken.text);
      const now = clock.now();
      const { entries, last } = await readEntries(ledger, await findStart(ledger, before), { most, redact, now });
      if (!last) return "all sent";
      const { problem, note: said } = await deliver(to, entries, { env, now, signal });
      const at = new Date(now).toISOString();
      if (!problem) {
        most = MOST_EVENTS;
        const { pos, hash } = last;
        taken.keep(JSON.stringify({ pos, sentAt: at, ...(hash !== undefined && { hash }), ...(said !== undefined && { note: said }) }));
        return "sent";
      }
      const { reason, isTooLarge } = problem;
      if (isTooLarge && entries.length > 2) {
        most = Math.ceil(entries.length / 4);
        return "sent"; // fewer at once
      }
      taken.keep(JSON.stringify({ ...before, problem: { since: before.problem?.since ?? at, triedAt: at, reason } }));
      return { problem: reason };
    } finally {
      taken.release();
    }
  };
  return {
    name: destinationName(to),
    state: () => readState(note.read()),
    send: (signal) => send(signal).catch((error: unknown) => ({ problem: messageOf(error) })),
    close: note.close,
  };
}

function readState(text: string | undefined): DestinationState {
  return text === undefined ? { pos: 0 } : (JSON.parse(text) as DestinationState); // only this file writes it
}

/** If another event is at the remembered position, an older copy of the record was put in its place: then everything is sent again. */
async function findStart(ledger: Ledger, { pos, hash }: DestinationState): Promise<number> {
  if (pos === 0 || pos > (await ledger.head())) return 0;
  for await (const event of ledger.read({ pos: pos - 1 })) {
    const isPruned = event.pos !== pos;
    return isPruned || hash === undefined || event.hash === hash ? pos : 0;
  }
  return pos;
}

type EntryReading = { readonly most: number; readonly now: number; readonly redact: TargetParts["redact"] };
type ReadEntries = { readonly entries: readonly StreamEntry[]; readonly last: StoredEvent | undefined };

/** The next events, with an anchor at the end. */
async function readEntries(ledger: Ledger, pos: number, { most, now, redact }: EntryReading): Promise<ReadEntries> {
  const { storeId: store } = ledger;
  const anchors = createAnchorMaker();
  const entries: StreamEntry[] = [];
  let last: StoredEvent | undefined;
  let size = 0;
  for await (const event of ledger.read({ pos })) {
    const entry = { store, event: { ...event, body: redact(event.body) } };
    size += entryLine(entry).length;
    if (entries.length > 0 && (entries.length >= most || size > MOST_CHARS)) break;
    entries.push(entry);
    anchors.add(event);
    last = event;
  }
  const anchor = anchors.take(now);
  return { entries: anchor ? [...entries, { store, anchor }] : entries, last };
}

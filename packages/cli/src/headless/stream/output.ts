import type { Maybe } from "@assent/core";
import type { Io } from "../../io/io.ts";
import { type FeedFaults, type LineFeed, lineFeed } from "./line-feed.ts";
import { type WireMessage, wireLine } from "./message.ts";

export type OutputFormat = "text" | "json" | "stream-json";

export type RunOutput = {
  readonly format: OutputFormat;
  /** Writes messages in ledger order. They are created only if there is a reader. */
  readonly show: (make: () => Maybe<readonly WireMessage[]>) => void;
  readonly paced: LineFeed["paced"];
  readonly isBehind: LineFeed["isBehind"];
  readonly hush: () => void;
  readonly end: () => Promise<void>;
};

export function outputFor(
  format: OutputFormat,
  io: Pick<Io, "stdout">,
  faults: FeedFaults,
  dialect: Dialect = (message) => message,
): RunOutput {
  if (format === "text") return textOutput();
  return format === "json" ? jsonOutput(io, faults) : streamOutput(io, faults, dialect);
}

type Dialect = (message: WireMessage) => WireMessage;

function textOutput(): RunOutput {
  const nothing = (): Promise<void> => Promise.resolve();
  return { format: "text", show: () => undefined, paced: nothing, isBehind: () => false, hush: () => undefined, end: nothing };
}

function streamOutput({ stdout }: Pick<Io, "stdout">, faults: FeedFaults, dialect: Dialect): RunOutput {
  const feed = hushableFeed((message) => stdout.write(wireLine(dialect(message))), faults);
  return { format: "stream-json", ...feed, end: feed.idle };
}

function jsonOutput({ stdout }: Pick<Io, "stdout">, faults: FeedFaults): RunOutput {
  const lines: string[] = [];
  const keep = async (message: WireMessage): Promise<void> => {
    if (message.type !== "stream_event") lines.push(wireLine(message).trimEnd());
  };
  const feed = hushableFeed(keep, faults);
  return {
    format: "json",
    ...feed,
    end: async () => {
      await feed.idle();
      for (const [at, line] of lines.entries()) await stdout.write(`${at === 0 ? "[" : ","}${line}`);
      await stdout.write(lines.length === 0 ? "[]\n" : "]\n");
    },
  };
}

type HushableFeed = Pick<RunOutput, "show" | "paced" | "isBehind" | "hush"> & Pick<LineFeed, "idle">;

function hushableFeed(write: (message: WireMessage) => Promise<void>, faults: FeedFaults): HushableFeed {
  let isHushed = false;
  const { push, paced, isBehind, idle } = lineFeed(write, faults);
  const spoken = (messages: readonly WireMessage[]): readonly WireMessage[] => messages.filter(({ type }) => type === "result");
  return {
    ...{ paced, isBehind, idle },
    show: (make) => push(isHushed ? async () => spoken(await make()) : make),
    hush: () => {
      isHushed = true;
    },
  };
}

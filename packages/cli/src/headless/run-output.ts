import type { Maybe } from "@assent/core";
import type { Io } from "../io.ts";
import { type FeedFaults, type LineFeed, lineFeed } from "./line-feed.ts";
import { type WireMessage, wireLine } from "./wire-message.ts";

/** The format of stdout. */
export type OutputFormat = "text" | "json" | "stream-json";

/** Where the messages of a run go. */
export type RunOutput = {
  readonly format: OutputFormat;
  /** In the order of the ledger. Nothing is made where nobody reads it. */
  readonly show: (make: () => Maybe<readonly WireMessage[]>) => void;
  readonly paced: LineFeed["paced"];
  readonly isBehind: LineFeed["isBehind"];
  /** Everything is written, and with `json` said. */
  readonly end: () => Promise<void>;
};

/** The output of this format. */
export function outputFor(format: OutputFormat, io: Pick<Io, "stdout">, faults: FeedFaults): RunOutput {
  if (format === "text") return textOutput();
  return format === "json" ? jsonOutput(io, faults) : streamOutput(io, faults);
}

/** Writes nothing while the run goes on. */
function textOutput(): RunOutput {
  const nothing = (): Promise<void> => Promise.resolve();
  return { format: "text", show: () => undefined, paced: nothing, isBehind: () => false, end: nothing };
}

/** One message per line, as it happens. */
function streamOutput({ stdout }: Pick<Io, "stdout">, faults: FeedFaults): RunOutput {
  const feed = lineFeed((message) => stdout.write(wireLine(message)), faults);
  return { format: "stream-json", show: feed.push, paced: feed.paced, isBehind: feed.isBehind, end: feed.idle };
}

/** All messages as one array on one line, at the end. */
function jsonOutput({ stdout }: Pick<Io, "stdout">, faults: FeedFaults): RunOutput {
  const lines: string[] = [];
  const keep = async (message: WireMessage): Promise<void> => {
    if (message.type !== "stream_event") lines.push(wireLine(message).trimEnd());
  };
  const feed = lineFeed(keep, faults);
  return {
    format: "json",
    show: feed.push,
    paced: feed.paced,
    isBehind: feed.isBehind,
    end: async () => {
      await feed.idle();
      for (const [at, line] of lines.entries()) await stdout.write(`${at === 0 ? "[" : ","}${line}`);
      await stdout.write(lines.length === 0 ? "[]\n" : "]\n");
    },
  };
}

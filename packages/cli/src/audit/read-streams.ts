import { createReadStream } from "node:fs";
import type { Anchor, Head } from "@assent/store";
import { fileProblem, usageError } from "../io/failure.ts";
import { inputLines } from "../io/input-lines.ts";
import { readEntryLine } from "./entry.ts";

/** What streamed files say about every ledger in them, in the order of the files. `unreadable` counts lines of another form. */
export type ReadStreams = { readonly anchors: readonly Anchor[]; readonly unreadable: number };

const LONGEST_LINE = 64 * 1024 * 1024;

/** Reads files of JSON lines. An event counts once, however often it was sent, but two events in one place count both. */
export async function readStreams(files: readonly string[]): Promise<ReadStreams> {
  const stores = new Map<string, Map<string, Head>>();
  let unreadable = 0;
  for (const file of files) {
    try {
      for await (const line of inputLines(createReadStream(file), LONGEST_LINE)) {
        if ("text" in line && line.text.trim() === "") continue;
        const entry = "text" in line ? readEntryLine(line.text) : undefined;
        if (!entry) unreadable += 1;
        else addHeads(stores, entry);
      }
    } catch (error) {
      throw usageError("verify", `cannot read the file '${file}': ${fileProblem(error)}`);
    }
  }
  return { anchors: [...stores].map(([store, heads]) => ({ store, heads: [...heads.values()] })), unreadable };
}

function addHeads(stores: Map<string, Map<string, Head>>, { store, heads }: Anchor): void {
  const known = stores.get(store) ?? new Map<string, Head>();
  stores.set(store, known);
  for (const head of heads) {
    const place = `${head.session}#${head.seq} ${head.hash}`;
    if (!known.has(place)) known.set(place, head);
  }
}

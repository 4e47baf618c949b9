import { ToolError } from "@assent/core";
import type { LinkedFile } from "../files/opened-as.ts";
import { type Engine, loadEngine } from "./engine.ts";
import { mapInOrder } from "./in-order.ts";
import { findMatches, placeFinder, type TextPlace } from "./match.ts";
import { type PreparedOps, prepareOps } from "./prepared-ops.ts";
import { FILE_LOAD, readSourceFiles, type SensitiveSource, type SourceFile } from "./source-files.ts";
import type { Target } from "./targets.ts";

export type ShownMatch = TextPlace & { readonly path: string; readonly text: string };

export type SearchedFiles = {
  readonly matches: readonly ShownMatch[];
  readonly more: number;
  readonly skipped: number;
  readonly notes: readonly string[];
};

export type FileSearch = {
  readonly pattern: string;
  readonly signal: AbortSignal;
  readonly isSensitive: SensitiveSource;
};

const MOST_MATCHES = 1000;

/** Searches files for a pattern. Throws `ToolError` if it parses in none of their languages. */
export async function searchFiles(targets: readonly Target[], { pattern, signal, isSensitive }: FileSearch): Promise<SearchedFiles> {
  const engine = await loadEngine();
  const ops = prepareOps(engine, [{ pat: pattern, out: "" }]);
  const wanted = targets.filter(({ language }) => ops.in(language).length > 0);
  const notes = ops.issues().map(({ message }) => message);
  if (wanted.length === 0 && ops.issues().some(({ op }) => op !== undefined)) throw new ToolError(notes.join("; "), "invalid_tool_params");
  const matches: ShownMatch[] = [];
  let [more, skipped] = [0, targets.length - wanted.length];
  const searching = mapInOrder(readSourceFiles(wanted), FILE_LOAD, (file) => searchFile(file, engine, ops));
  for await (const { target, found, linked } of searching) {
    signal.throwIfAborted();
    if (!found || (found.length > 0 && isSensitive(target, linked))) skipped++;
    else {
      const room = MOST_MATCHES - matches.length;
      matches.push(...found.slice(0, room));
      more += Math.max(0, found.length - room);
    }
  }
  return { matches, more, skipped, notes };
}

type FileMatches = { readonly target: Target; readonly found?: readonly ShownMatch[]; readonly linked?: LinkedFile };

/** A file with a syntax error is searched as far as it parses. */
async function searchFile({ target, source }: SourceFile, engine: Engine, ops: PreparedOps): Promise<FileMatches> {
  if (typeof source === "string") return { target };
  const { text, linked } = source;
  const root = (await engine.parse(target.language, text)).root();
  const place = placeFinder(text);
  const found = ops.in(target.language).flatMap(({ pattern }) => findMatches({ root, text }, pattern));
  const shown = found.map(({ start, end }) => ({ ...place(start), path: target.path, text: text.slice(start, end) }));
  return { target, found: shown, ...(linked && { linked }) };
}

import { type FilePart, type FileReview, type Json, type JsonObject, type ProposalPart, readPart } from "@assent/core";
import type { Context } from "../../command-line/spec.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { readNamed } from "../../io/read-input.ts";

/** The id of a proposal or an approval, and the changes to choose from. */
type PartSource = { readonly id: string; readonly review: () => Promise<readonly FileReview[]> };

/** The part that `--file`, `--hunk` or `--part` choose; undefined without these options. */
export async function chosenPart({ io, options }: Context, command: string, { id, review }: PartSource): Promise<ProposalPart | undefined> {
  const [files, hunks, given] = [options.list("file"), options.list("hunk"), options.text("part")];
  if (given === undefined) return files.length + hunks.length === 0 ? undefined : partOf(await review(), { files, hunks, id });
  if (files.length + hunks.length > 0) throw usageError(command, "give either --part, or --file and --hunk");
  return await readPartFile(io, given, command);
}

async function readPartFile(io: Context["io"], file: string, command: string): Promise<ProposalPart> {
  const text = await readNamed(io, file, command);
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw usageError(command, "--part: this is not JSON");
  }
  const part = readPart(given);
  if (typeof part === "string") throw usageError(command, `--part: ${part}`);
  return part;
}

type Names = { readonly id: string; readonly files: readonly string[]; readonly hunks: readonly string[] };

/** Whole files, and single hunks of others. */
function partOf(reviews: readonly FileReview[], { id, files, hunks }: Names): ProposalPart {
  const parts = new Map<string, FilePart>();
  for (const name of files) {
    const { path } = findFile(reviews, name, id);
    parts.set(path, { path });
  }
  for (const hunk of hunks) {
    const file = reviews.find((review) => review.hunks.some((each) => each.id === hunk));
    if (!file)
      throw new CommandError("invalid_part", 2, { message: `${id} has no hunk ${hunk}. Nothing was applied.`, hint: showCommand(id) });
    const known = parts.get(file.path);
    if (known && !known.hunks) continue;
    parts.set(file.path, { path: file.path, hunks: [...(known?.hunks ?? []), hunk] });
  }
  return { files: [...parts.values()] };
}

/** Everything a program needs to choose a part. */
export function changeJson({ path, name, op, added, removed, notes, hunks }: FileReview): JsonObject {
  const shown = hunks.map(({ id, header, lines }) => ({ id, header, lines }));
  return { path, name, op, added, removed, notes, hunks: shown as unknown as Json };
}

function showCommand(id: string): string {
  return id.startsWith("p_") ? `assent proposals show ${id} --folded` : `assent approvals show ${id}`;
}

export function findFile(reviews: readonly FileReview[], name: string, id: string): FileReview {
  const file = reviews.find((review) => review.path === name || review.name === name.replace(/^\.\//, ""));
  if (!file) throw new CommandError("invalid_part", 2, { message: `${id} does not change ${name}.`, hint: showCommand(id) });
  return file;
}

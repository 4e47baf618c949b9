import { type FilePart, type FileReview, type ProposalPart, type ProposalRow, readPart, reviewProposal } from "@assent/core";
import { nodeDigest } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { CommandError, usageError } from "../../io/failure.ts";
import { readNamed } from "../../io/read-input.ts";
import type { Store } from "../../store/store.ts";

/** The part that the options choose; undefined for the whole proposal. */
export async function chosenPart({ io, options }: Context, { ledger }: Store, row: ProposalRow): Promise<ProposalPart | undefined> {
  const [files, hunks, given] = [options.list("file"), options.list("hunk"), options.text("part")];
  if (given === undefined)
    return files.length + hunks.length === 0
      ? undefined
      : partOf(await reviewProposal({ ledger }, row, nodeDigest), { files, hunks, id: row.id });
  if (files.length + hunks.length > 0) throw usageError("apply", "give either --part, or --file and --hunk");
  return await readPartFile(io, given, "apply");
}

export async function readPartFile(io: Context["io"], file: string, command: string): Promise<ProposalPart> {
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
function partOf(reviews: readonly FileReview[], { id: proposal, files, hunks }: Names): ProposalPart {
  const parts = new Map<string, FilePart>();
  for (const name of files) {
    const { path } = findFile(reviews, name, proposal);
    parts.set(path, { path });
  }
  for (const id of hunks) {
    const file = reviews.find((review) => review.hunks.some((hunk) => hunk.id === id));
    if (!file)
      throw new CommandError("invalid_part", 2, {
        message: `The proposal has no hunk ${id}. Nothing was applied.`,
        hint: `assent proposals show ${proposal}`,
      });
    const known = parts.get(file.path);
    if (known && !known.hunks) continue;
    parts.set(file.path, { path: file.path, hunks: [...(known?.hunks ?? []), id] });
  }
  return { files: [...parts.values()] };
}

export function findFile(reviews: readonly FileReview[], name: string, proposal: string): FileReview {
  const file = reviews.find((review) => review.path === name || review.name === name.replace(/^\.\//, ""));
  if (!file)
    throw new CommandError("invalid_part", 2, {
      message: `The proposal does not change ${name}.`,
      hint: `assent proposals show ${proposal} --folded`,
    });
  return file;
}

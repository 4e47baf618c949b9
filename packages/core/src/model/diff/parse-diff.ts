/** One line of a diff, without its sign and line break. */
export type DiffLine = {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  readonly old: number | undefined;
  readonly new: number | undefined;
  /** The last line of a file without a final line break. */
  readonly open?: true;
};

/** A hunk of a diff. */
export type Hunk = {
  /** Names the hunk in a review. */
  readonly id?: string;
  readonly header: string;
  readonly oldStart: number;
  readonly oldLines: number;
  readonly lines: readonly DiffLine[];
};

/** The changes of one file. */
export type FileDiff = {
  readonly name: string;
  readonly isNew: boolean;
  readonly isDeleted?: boolean;
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
  /** Other lines of the diff, such as a mode change or a new name. */
  readonly notes: readonly string[];
  /** Changes that are shown with it, and chosen only together with it. */
  readonly inside?: readonly FileDiff[];
};

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const NO_LINE_BREAK = "\\ No newline at end of file";

/** Parses a unified diff. The counts in a hunk's header decide which lines belong to it; anything else becomes a note. */
export function parseDiff(text: string): readonly FileDiff[] {
  const lines = text.split("\n");
  const files: FileDiff[] = [];
  const before = readNotes(lines, 0);
  for (let { notes, next: at } = before; at < lines.length; ) {
    const [from = "", to = ""] = lines.slice(at, at + 2);
    const { file, next } = readHunks(lines, at + 2);
    const after = readNotes(lines, next);
    files.push({ name: nameOf(to), isNew: from === "--- /dev/null", ...file, notes: [...notes, ...after.notes] });
    notes = [];
    at = after.next;
  }
  return files;
}

function readNotes(lines: readonly string[], start: number): { readonly notes: readonly string[]; readonly next: number } {
  const isFile = (at: number): boolean => lines[at]?.startsWith("--- ") === true && lines[at + 1]?.startsWith("+++ ") === true;
  let next = start;
  while (next < lines.length && !isFile(next)) next += 1;
  return { notes: lines.slice(start, next).filter((line) => line !== ""), next };
}

function nameOf(to: string): string {
  return to.slice(4).replace(/^b\//, "");
}

type ReadHunks = { readonly file: Pick<FileDiff, "hunks" | "added" | "removed">; readonly next: number };

function readHunks(lines: readonly string[], start: number): ReadHunks {
  const hunks: Hunk[] = [];
  let at = start;
  for (let header = HEADER.exec(lines[at] ?? ""); header; header = HEADER.exec(lines[at] ?? "")) {
    const { hunk, next } = readHunk(lines, at, header);
    hunks.push(hunk);
    at = next;
  }
  const count = (kind: DiffLine["kind"]): number =>
    hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.kind === kind).length, 0);
  return { file: { hunks, added: count("added"), removed: count("removed") }, next: at };
}

function readHunk(lines: readonly string[], at: number, header: RegExpExecArray): { readonly hunk: Hunk; readonly next: number } {
  const [whole, oldAt, oldCount = "1", newAt, newCount = "1"] = header;
  const left = { old: Number(oldCount), new: Number(newCount) };
  const oldStart = Number(oldAt) + (left.old === 0 ? 1 : 0);
  const number = { old: oldStart, new: Number(newAt) + (left.new === 0 ? 1 : 0) };
  const found: DiffLine[] = [];
  let next = at + 1;
  while (next < lines.length && (left.old > 0 || left.new > 0 || lines[next] === NO_LINE_BREAK)) {
    const line = lines[next] ?? "";
    next += 1;
    if (line === NO_LINE_BREAK) markOpen(found);
    else found.push(readLine(line, left, number));
  }
  return { hunk: { header: whole, oldStart, oldLines: Number(oldCount), lines: found }, next };
}

type Counts = { old: number; new: number };

function readLine(line: string, left: Counts, number: Counts): DiffLine {
  const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
  const [old, made] = [kind === "added" ? undefined : number.old, kind === "removed" ? undefined : number.new];
  if (old !== undefined) {
    left.old -= 1;
    number.old += 1;
  }
  if (made !== undefined) {
    left.new -= 1;
    number.new += 1;
  }
  return { kind, text: line.slice(1), old, new: made };
}

function markOpen(lines: DiffLine[]): void {
  const last = lines.pop();
  if (last) lines.push({ ...last, open: true });
}

import { useState } from "preact/hooks";
import type { CardFile, CardHunk, CardLine } from "../src/desk.ts";
import { type DiffRow, splitRows, unifiedRows } from "./diff-rows.ts";
import { visible } from "./text.ts";

/** The chosen hunks of each file by its path; a file without hunks has an empty set. */
export type ChosenHunks = ReadonlyMap<string, ReadonlySet<string>>;

const PAGE_ROWS = 400;

/** The hunks that can be chosen alone. */
export function hunkIds({ hunks }: CardFile): readonly string[] {
  return hunks.flatMap(({ id }) => id ?? []);
}

type DiffProps = {
  readonly files: readonly CardFile[];
  readonly split: boolean;
  /** Undefined while the person does not choose. */
  readonly chosen: ChosenHunks | undefined;
  readonly choose: (chosen: ChosenHunks) => void;
};

export function Diff({ files, split, chosen, choose }: DiffProps) {
  return (
    <div class="diff">
      {files.map((file) => (
        <FileDiff key={file.path} file={file} split={split} isOpen={files.length <= 10} chosen={chosen} choose={choose} />
      ))}
    </div>
  );
}

function FileDiff({
  file,
  split,
  isOpen,
  chosen,
  choose,
}: Omit<DiffProps, "files"> & { readonly file: CardFile; readonly isOpen: boolean }) {
  const [shown, setShown] = useState(PAGE_ROWS);
  const { path, name, what, added, removed, notes, hunks } = file;
  const picked = chosen?.get(path);
  const set = (next: ReadonlySet<string> | undefined): void => {
    const all = new Map(chosen);
    if (next === undefined) all.delete(path);
    else all.set(path, next);
    choose(all);
  };
  let left = shown;
  return (
    <>
      {chosen && (
        <label class="choosing">
          <input
            type="checkbox"
            checked={picked !== undefined}
            onChange={({ currentTarget }) => set(currentTarget.checked ? new Set(hunkIds(file)) : undefined)}
          />{" "}
          Approve {visible(name)}
        </label>
      )}
      <details open={isOpen} class="file">
        <summary>
          <span class="name">{visible(name)}</span> <span class="what">{what}</span>{" "}
          <span class="added" title={`${added} lines added`}>
            +{added}
          </span>{" "}
          <span class="removed" title={`${removed} lines removed`}>
            −{removed}
          </span>
        </summary>
        {notes.map((note) => (
          <p class="note" key={note}>
            {visible(note)}
          </p>
        ))}
        {hunks.map((hunk, at) => {
          const rows = split ? splitRows(hunk) : unifiedRows(hunk);
          const part = rows.slice(0, Math.max(0, left));
          left -= rows.length;
          if (part.length === 0) return null;
          const toggle = (on: boolean): void => {
            const next = new Set(picked);
            if (hunk.id !== null) on ? next.add(hunk.id) : next.delete(hunk.id);
            set(next.size === 0 ? undefined : next);
          };
          return (
            <HunkTable
              key={`${at}`}
              hunk={hunk}
              rows={part}
              split={split}
              picked={chosen && hunk.id !== null ? picked?.has(hunk.id) === true : undefined}
              toggle={toggle}
            />
          );
        })}
        {left < 0 && (
          <button type="button" class="more" onClick={() => setShown(shown + PAGE_ROWS)}>
            Show {Math.min(PAGE_ROWS, -left)} more of {-left} lines
          </button>
        )}
      </details>
    </>
  );
}

type HunkProps = {
  readonly hunk: CardHunk;
  readonly rows: readonly DiffRow[];
  readonly split: boolean;
  readonly picked: boolean | undefined;
  readonly toggle: (on: boolean) => void;
};

function HunkTable({ hunk, rows, split, picked, toggle }: HunkProps) {
  return (
    <div class="hunk">
      <div class="hunk-head">
        {picked !== undefined && (
          <input
            type="checkbox"
            aria-label={`Approve change ${visible(hunk.header)}`}
            checked={picked}
            onChange={({ currentTarget }) => toggle(currentTarget.checked)}
          />
        )}
        {visible(hunk.header)}
      </div>
      <table class={split ? "split" : "unified"}>
        <tbody>
          {rows.map((row, at) => (
            <tr key={`${at}`}>
              <LineCell line={row.left} />
              {split && <LineCell line={row.right} />}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const KINDS = { "+": "added", "-": "removed", " ": "same" } as const;

function LineCell({ line }: { readonly line: CardLine | undefined }) {
  if (!line) return <td class="empty" />;
  const { mark, pieces } = line;
  return (
    <td class={KINDS[mark]}>
      <span class="mark">{mark}</span>
      {pieces.map(({ text, changed }, at) => (changed ? <b key={`${at}`}>{visible(text)}</b> : visible(text)))}
    </td>
  );
}

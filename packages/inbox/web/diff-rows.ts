import type { CardHunk, CardLine } from "../src/desk.ts";

/** One drawn row of a diff: a line, or two side by side. */
export type DiffRow = { readonly left: CardLine | undefined; readonly right: CardLine | undefined };

/** Lines one below the other. */
export function unifiedRows({ lines }: CardHunk): readonly DiffRow[] {
  return lines.map((line) => ({ left: line, right: undefined }));
}

/** Removed lines beside the lines that replace them. */
export function splitRows({ lines }: CardHunk): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let [removed, added]: [CardLine[], CardLine[]] = [[], []];
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) rows.push({ left: removed[at], right: added[at] });
    [removed, added] = [[], []];
  };
  for (const line of lines) {
    if (line.mark === "-") removed.push(line);
    else if (line.mark === "+") added.push(line);
    else {
      flush();
      rows.push({ left: line, right: line });
    }
  }
  flush();
  return rows;
}

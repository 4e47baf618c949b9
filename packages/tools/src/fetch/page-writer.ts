/** What lines inside an element begin with: the first one, and those after it. */
type Container = { readonly name: string; readonly first: string; readonly rest: string; isBegun: boolean; items: number };

/** A mark around words: written with the first of them, so that marks around nothing are never seen. */
type Mark = { readonly name: string; readonly open: string; readonly close: string; isWritten: boolean };

/**
 * A page as it is being written. Blanks and line breaks wait until there is something to write after them.
 * In a heading or a cell breaks are blanks, and in a cell a bar is escaped, because it would end it.
 */
export type PageWriter = {
  readonly out: string[];
  size: number;
  readonly maxChars: number;
  breaks: number;
  isSpaced: boolean;
  inCell: boolean;
  inHeading: boolean;
  readonly containers: Container[];
  readonly marks: Mark[];
};

/** Deeper nesting is written as if it were not there: what a line begins with stays short. */
const MAX_CONTAINERS = 24;
const MAX_MARKS = 16;

/** An empty page, of at most about this length. */
export function pageWriter(maxChars: number): PageWriter {
  return { out: [], size: 0, maxChars, breaks: 0, isSpaced: false, inCell: false, inHeading: false, containers: [], marks: [] };
}

/** Nothing more is written once this is so. */
export function isFull({ size, maxChars }: PageWriter): boolean {
  return size > maxChars;
}

/** Writes running text: any number of blanks and breaks in it are one blank. */
export function writeText(page: PageWriter, text: string): void {
  const words = text.replaceAll(/[ \t\n\r\f]+/g, " ");
  if (words.startsWith(" ")) page.isSpaced = true;
  const core = words.trim();
  if (core === "") return;
  writeWords(page, page.inCell ? core.replaceAll("|", "\\|") : core);
  if (words.endsWith(" ")) page.isSpaced = true;
}

/** Writes words as they are, with what waits before them. */
export function writeWords(page: PageWriter, words: string): void {
  begin(page);
  for (const mark of page.marks) {
    if (!mark.isWritten) emit(page, mark.open);
    mark.isWritten = true;
  }
  emit(page, words);
}

/** Writes lines that keep their blanks. */
export function writeLines(page: PageWriter, lines: readonly string[]): void {
  for (const line of lines) {
    begin(page);
    emit(page, line);
    page.breaks = 1;
  }
}

/** What follows begins on a new line; with two, after an empty one. Marks around what there was end here. */
export function breakLine(page: PageWriter, breaks: 1 | 2): void {
  const written = page.marks.filter(({ isWritten }) => isWritten);
  for (const mark of written.reverse()) emit(page, mark.close);
  if (written.length > 0) page.marks.splice(0, page.marks.length, ...page.marks.filter(({ isWritten }) => !isWritten));
  softBreak(page, breaks);
}

/** A break that marks go across. */
export function softBreak(page: PageWriter, breaks: 1 | 2): void {
  if (page.inCell || page.inHeading) page.isSpaced = true;
  else page.breaks = Math.max(page.breaks, breaks);
}

/** Begins an element whose lines begin in a way of their own. */
export function enter(page: PageWriter, container: Pick<Container, "name" | "first" | "rest">): void {
  if (page.containers.length < MAX_CONTAINERS) page.containers.push({ ...container, isBegun: false, items: 0 });
}

/** Ends the innermost element of this name with all that is in it; none, none. */
export function leave(page: PageWriter, name: string): void {
  const at = page.containers.findLastIndex((container) => container.name === name);
  if (at !== -1) page.containers.length = at;
}

/** Begins a mark around words. */
export function openMark(page: PageWriter, mark: Pick<Mark, "name" | "open" | "close">): void {
  if (page.marks.length < MAX_MARKS) page.marks.push({ ...mark, isWritten: false });
}

/** Ends the innermost mark of this name, and those in it. */
export function closeMark(page: PageWriter, name: string): void {
  const at = page.marks.findLastIndex((mark) => mark.name === name);
  if (at !== -1) endMarks(page, at);
}

/** Writes without what waits: for what belongs to the line itself. */
export function emit(page: PageWriter, text: string): void {
  if (isFull(page)) return;
  page.out.push(text);
  page.size += text.length;
}

/** The breaks and blanks that waited, and how the line begins. */
export function begin(page: PageWriter): void {
  const isFirst = page.out.length === 0;
  if (!isFirst && page.breaks > 1) emit(page, `\n${emptyLine(page.containers)}`);
  if (!isFirst && page.breaks > 0) emit(page, "\n");
  if (isFirst || page.breaks > 0) beginLine(page);
  else if (page.isSpaced && !page.out.at(-1)?.endsWith(" ")) emit(page, " ");
  page.breaks = 0;
  page.isSpaced = false;
}

function beginLine(page: PageWriter): void {
  for (const container of page.containers) {
    emit(page, container.isBegun ? container.rest : container.first);
    container.isBegun = true;
  }
}

/** An empty line keeps the signs of the quotes that go on after it. */
function emptyLine(containers: readonly Container[]): string {
  const going = containers.filter(({ isBegun }) => isBegun);
  return going
    .map(({ rest }) => rest)
    .join("")
    .trimEnd();
}

function endMarks(page: PageWriter, from: number): void {
  for (const mark of page.marks.splice(from).reverse()) if (mark.isWritten) emit(page, mark.close);
}

import { begin, breakLine, emit, endHeading, type Page, softBreak, writeLines } from "./page-writer.ts";

export function openTable(page: Page): void {
  endHeading(page);
  if (page.tables > 0) {
    page.isLayout = true;
    page.inCell = false;
  }
  page.tables += 1;
  page.row = 0;
  page.cells = 0;
  breakLine(page, 2);
}

export function closeTable(page: Page): void {
  endRow(page);
  page.tables = Math.max(0, page.tables - 1);
  if (page.tables === 0) page.isLayout = false;
  breakLine(page, 2);
}

export function openRow(page: Page): void {
  endRow(page);
  breakLine(page, 1);
}

export function openCell(page: Page): void {
  endCell(page);
  if (page.tables === 0 || page.isLayout) {
    softBreak(page, 1);
    return;
  }
  page.isSpaced = false;
  begin(page);
  emit(page, "| ");
  page.cells += 1;
  page.inCell = true;
}

export function endCell(page: Page): void {
  if (!page.inCell) return;
  breakLine(page, 1);
  page.inCell = false;
  page.isSpaced = false;
  emit(page, " ");
}

/** The first row is the header, so the separator follows it. */
export function endRow(page: Page): void {
  endCell(page);
  if (page.cells === 0) return;
  emit(page, "|");
  page.row += 1;
  breakLine(page, 1);
  if (page.row === 1 && page.isMarkdown) writeLines(page, [`|${" --- |".repeat(page.cells)}`]);
  page.cells = 0;
}

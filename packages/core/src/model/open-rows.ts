/**
 * Rows that come and go, by id, oldest first. The oldest has a place of its own: most calls end before the next begins, and a map that is emptied after every call
 * makes a new table for the next.
 */
export class OpenRows<Row> {
  private id: string | undefined;
  private row: Row | undefined;
  private readonly others = new Map<string, Row>();

  constructor(rows: Iterable<readonly [string, Row]> = []) {
    for (const [id, row] of rows) this.set(id, row);
  }

  get size(): number {
    return this.id === undefined ? 0 : this.others.size + 1;
  }

  get(id: string): Row | undefined {
    return id === this.id ? this.row : this.others.get(id);
  }

  has(id: string): boolean {
    return id === this.id || this.others.has(id);
  }

  set(id: string, row: Row): void {
    this.id ??= id;
    if (id === this.id) this.row = row;
    else this.others.set(id, row);
  }

  delete(id: string): void {
    if (id === this.id) this.moveUp();
    else this.others.delete(id);
  }

  *keys(): Generator<string> {
    if (this.id !== undefined) yield this.id;
    yield* this.others.keys();
  }

  *values(): Generator<Row> {
    if (this.row !== undefined) yield this.row;
    yield* this.others.values();
  }

  private moveUp(): void {
    this.id = this.row = undefined;
    if (this.others.size === 0) return;
    for (const [id, row] of this.others) {
      this.others.delete(id);
      this.id = id;
      this.row = row;
      return;
    }
  }
}

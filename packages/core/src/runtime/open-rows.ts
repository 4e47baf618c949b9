/**
 * Rows that come and go, by id. One of them, the first where there is none, has a place of its own: most calls end before the next begins, and a map that is emptied
 * after every call makes a new table for the next.
 */
export class OpenRows<Row> {
  #id: string | undefined;
  #row: Row | undefined;
  readonly #others = new Map<string, Row>();

  get(id: string): Row | undefined {
    return id === this.#id ? this.#row : this.#others.get(id);
  }

  set(id: string, row: Row): void {
    if (this.#id === undefined && this.#others.size === 0) this.#id = id;
    if (id === this.#id) this.#row = row;
    else this.#others.set(id, row);
  }

  delete(id: string): void {
    if (id !== this.#id) this.#others.delete(id);
    else this.#id = this.#row = undefined;
  }
}

/** A `Headers` replacement: Node's own loads all of `fetch`, which takes longer than starting Node. */
export class PlainHeaders {
  readonly #values = new Map<string, string>();

  constructor(given: Iterable<readonly [string, string]> | Readonly<Record<string, string>> = {}) {
    for (const [name, value] of isIterable(given) ? given : Object.entries(given)) this.append(name, value);
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value.trim());
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  getSetCookie(): string[] {
    return [];
  }

  forEach(tell: (value: string, name: string, all: PlainHeaders) => void): void {
    for (const [name, value] of this.#values) tell(value, name, this);
  }

  keys(): MapIterator<string> {
    return this.#values.keys();
  }

  values(): MapIterator<string> {
    return this.#values.values();
  }

  entries(): MapIterator<[string, string]> {
    return this.#values.entries();
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.#values.entries();
  }
}

function isIterable(given: object): given is Iterable<readonly [string, string]> {
  return Symbol.iterator in given;
}

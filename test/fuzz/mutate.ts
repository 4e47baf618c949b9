import type { Random } from "./random.ts";

/** What a mutator may take from: another input of the same target. */
export type Mutator = (input: Buffer, random: Random, other: Buffer) => Buffer;

/** Bytes that readers trip over: ends, quotes, escapes, halves of characters, marks of order and direction. */
const BYTES: readonly Buffer[] = [
  "\0",
  "\n",
  "\r",
  "\r\n",
  "\t",
  "\\",
  '"',
  "'",
  "`",
  "$",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "#",
  "\ufeff",
  "\u2028",
  "\u202e",
  "\u00a0",
  "é",
  "漢",
  "\u{1f600}",
  "\u001b[2J",
  "-1",
  "1e999",
  "__proto__",
]
  .map((text) => Buffer.from(text))
  .concat([
    Buffer.from([0xff]),
    Buffer.from([0xc3]),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from([0xfe, 0xff]),
    Buffer.alloc(64, 0x5b),
    Buffer.alloc(300, 0x61),
  ]);

function span(length: number, random: Random): readonly [start: number, end: number] {
  const start = random.below(length + 1);
  return [start, Math.min(length, start + 1 + random.below(random.chance(0.7) ? 4 : 64))];
}

const splice = (input: Buffer, [start, end]: readonly [number, number], put: Uint8Array): Buffer =>
  Buffer.concat([input.subarray(0, start), put, input.subarray(end)]);

const BYTE_CHANGES: readonly Mutator[] = [
  (input, random) => splice(input, span(input.length, random), Buffer.alloc(0)),
  (input, random) => splice(input, span(input.length, random), Buffer.from([random.below(256)])),
  (input, random) => {
    const at = random.below(input.length + 1);
    return splice(input, [at, at], random.pick(BYTES));
  },
  (input, random) => {
    const [start, end] = span(input.length, random);
    return splice(input, [start, start], input.subarray(start, end));
  },
  (input, random) => {
    const at = random.below(input.length || 1);
    return splice(input, [at, at + 1], Buffer.from([(input[at] ?? 0) ^ (1 << random.below(8))]));
  },
  (input, random) => input.subarray(0, random.below(input.length + 1)),
  (input, random, other) => {
    const [start, end] = span(other.length, random);
    const at = random.below(input.length + 1);
    return splice(input, [at, at], other.subarray(start, end));
  },
];

/** Changes single bytes and short stretches of them. */
export const bytes: Mutator = (input, random, other) => random.pick(BYTE_CHANGES)(input, random, other);

/** Takes out, doubles, exchanges and borrows whole pieces of a text that is cut at the separator. */
function pieces(cut: (text: string) => readonly string[], words: readonly string[]): Mutator {
  return (input, random, other) => {
    const mine = [...cut(input.toString("utf8"))];
    const theirs = cut(other.toString("utf8"));
    const at = random.below(mine.length || 1);
    const to = random.below(mine.length || 1);
    const put = [
      () => mine[to] ?? "",
      () => random.pick(theirs.length > 0 ? theirs : [""]),
      () => random.pick(words.length > 0 ? words : [""]),
    ];
    const change = random.below(5);
    if (change === 0) mine.splice(at, 1 + random.below(3));
    else if (change === 1) mine.splice(at, 1, random.pick(put)());
    else if (change === 2) [mine[at], mine[to]] = [mine[to] ?? "", mine[at] ?? ""];
    else mine.splice(at, 0, random.pick(put)());
    return Buffer.from(mine.join(""));
  };
}

/** Changes whole lines; `words` are lines of the target's own. */
export function lines(words: readonly string[] = []): Mutator {
  return pieces(
    (text) => text.split(/(?<=\n)/),
    words.map((word) => `${word}\n`),
  );
}

/** Changes words, blanks and signs; `words` are those that mean something to the target. */
export function tokens(words: readonly string[]): Mutator {
  return pieces((text) => text.match(/[\w.-]+|\s+|[^\w\s]/gu) ?? [], words);
}

/** Values that stand where another kind was expected. */
const ODD: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e21,
  "",
  " ",
  "x",
  "\u0000",
  "*",
  "__proto__",
  [],
  [[]],
  {},
  { a: {} },
  [null],
];

/** Changes the structure of a JSON text, whole or of one of its lines; other texts stay as they are. `words` are keys and strings of the target's own. */
export function structure(words: readonly string[]): Mutator {
  return (input, random, other) => {
    const text = input.toString("utf8");
    const whole = parsed(text);
    if (whole !== undefined) return Buffer.from(JSON.stringify(changed(whole, random, words)));
    const rows = text.split("\n");
    const at = random.below(rows.length);
    const row = parsed(rows[at] ?? "");
    if (row === undefined) return bytes(input, random, other);
    rows[at] = JSON.stringify(changed(row, random, words));
    return Buffer.from(rows.join("\n"));
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Slot = { readonly holder: Record<string, unknown> | unknown[]; readonly key: string };

function slots(value: unknown): readonly Slot[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, unknown> | unknown[];
  return Object.entries(holder).flatMap(([key, inner]) => [{ holder, key }, ...slots(inner)]);
}

function changed(value: unknown, random: Random, words: readonly string[]): unknown {
  const root = { value };
  const slot = random.pick<Slot>([{ holder: root, key: "value" }, ...slots(value)]);
  const { key } = slot;
  const holder = slot.holder as Record<string, unknown>;
  const fresh = (): unknown => (random.chance(0.5) && words.length > 0 ? random.pick(words) : random.pick(ODD));
  const put = (value: unknown): void => {
    holder[key] = value;
  };
  const ways: readonly (() => void)[] = [
    () => put(fresh()),
    () => void (Array.isArray(slot.holder) ? slot.holder.splice(Number(key), 1) : holder !== root && delete holder[key]),
    () => put([holder[key], fresh()]),
    () => put({ [String(fresh())]: holder[key] }),
    () => {
      const inner = holder[key];
      if (Array.isArray(inner)) inner.splice(random.below(inner.length + 1), 0, fresh());
      else if (typeof inner === "object" && inner !== null) Object.assign(inner, { [random.pick([...words, "x"])]: fresh() });
      else put(`${String(inner)}${String(fresh())}`);
    },
    () => {
      let deep: unknown = holder[key];
      for (let level = random.below(60); level > 0; level -= 1) deep = [deep];
      put(deep);
    },
  ];
  random.pick(ways)();
  return root.value;
}

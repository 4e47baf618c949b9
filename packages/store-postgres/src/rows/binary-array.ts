/** The element types of arrays that the store sends, with their oids. */
const OIDS = { bigint: 20, smallint: 21, int: 23, text: 25, bytea: 17 } as const;

const WIDTHS: Readonly<Record<string, number>> = { bigint: 8, smallint: 2, int: 4 };

export type ElementType = keyof typeof OIDS;

/**
 * Encodes an array in PostgreSQL's binary format. `pg` sends a buffer as it is; it would escape every element of an array into one text, which the server has
 * to parse.
 */
export function encodeArray(type: ElementType, elements: readonly unknown[]): Buffer {
  const width = WIDTHS[type];
  const sizes = elements.map((one) =>
    one === null ? 0 : (width ?? (typeof one === "string" ? Buffer.byteLength(one) : bytesOf(one).length)),
  );
  const buffer = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + 4 + size, 20));
  let at = 0;
  const put = (number: number): void => {
    at = buffer.writeInt32BE(number, at);
  };
  for (const head of [1, 1, OIDS[type], elements.length, 1]) put(head); // dimensions, whether nulls occur, type, length, first index
  for (const [index, element] of elements.entries()) {
    const size = sizes[index] ?? 0;
    put(element === null ? -1 : size);
    if (element === null) continue;
    if (typeof element === "string") at += buffer.write(element, at, "utf8");
    else if (width === undefined) at += bytesOf(element).copy(buffer, at);
    else if (width === 8) at = buffer.writeBigInt64BE(BigInt(Number(element)), at);
    else at = buffer.writeIntBE(Number(element), at, width);
  }
  return buffer;
}

function bytesOf(element: unknown): Buffer {
  if (Buffer.isBuffer(element)) return element;
  throw new TypeError(`${typeof element} is not an element of an array of bytes or texts.`);
}

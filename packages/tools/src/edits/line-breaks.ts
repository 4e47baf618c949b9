import { firstIndex } from "@assent/core/parts";

const LF = 0x0a;
const CRLF = Buffer.from("\r\n");

/** A file's bytes with every CRLF as a single LF, and the positions of the CRLFs. */
export type PlainFile = {
  readonly bytes: Buffer;
  /** Converts an offset to one in the file; a line break starts at its carriage return. */
  readonly toFile: (at: number) => number;
  readonly isCrlf: (at: number) => boolean;
};

/** Removes carriage returns before line feeds. */
export function stripReturns(file: Buffer): PlainFile {
  const first = file.indexOf(CRLF);
  if (first === -1) return { bytes: file, toFile: (at) => at, isCrlf: () => false };
  const bytes = Buffer.allocUnsafe(file.length);
  const crlfs: number[] = [];
  let length = 0;
  let from = 0;
  for (let at = first; at !== -1; at = file.indexOf(CRLF, from)) {
    length += file.copy(bytes, length, from, at);
    crlfs.push(length);
    from = at + 1;
  }
  length += file.copy(bytes, length, from);
  const before = (at: number): number => firstIndex(crlfs.length, (index) => (crlfs[index] ?? 0) >= at);
  return { bytes: bytes.subarray(0, length), toFile: (at) => at + before(at), isCrlf: (at) => crlfs[before(at)] === at };
}

export function toPlainBreaks(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

export type Range = { readonly from: number; readonly to: number };

/**
 * Returns a function that gives new bytes the line breaks of the range they replace. Additional breaks follow the last one of the
 * range or, if there is none, the surrounding line. Call it with ranges in order. Undefined if the file has no line break.
 */
export function breakAdapter(plain: PlainFile): (bytes: Buffer, range: Range) => Buffer | undefined {
  const { bytes: file, isCrlf } = plain;
  const lastOfAll = file.lastIndexOf(LF);
  let after = -1;
  return (bytes, { from, to }) => {
    if (lastOfAll === -1) return undefined;
    if (after < to) after = to > lastOfAll ? lastOfAll : file.indexOf(LF, to);
    const own = findBreaks(file.subarray(from, to)).map((at) => isCrlf(from + at));
    const further = own.at(-1) ?? isCrlf(after);
    return withBreaks(bytes, (index) => own[index] ?? further);
  };
}

function withBreaks(bytes: Buffer, isCrlf: (index: number) => boolean): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const [index, at] of findBreaks(bytes).entries()) {
    if (!isCrlf(index)) continue;
    pieces.push(bytes.subarray(from, at), CRLF);
    from = at + 1;
  }
  return pieces.length === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(from)]);
}

function findBreaks(bytes: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) places.push(at);
  return places;
}

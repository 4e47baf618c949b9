import type { SpilledOutput, SpillFile } from "@assent/core";

const SEGMENT_BYTES = 64 * 1024;

export type HeldOutputEnd = {
  readonly output: string;
  readonly chars: number;
  readonly lines: number;
  readonly dropped: number;
  readonly spilled?: SpilledOutput;
};

/** Takes output piece by piece; await `take` for back-pressure. */
export type HeldOutput = {
  readonly take: (bytes: Uint8Array, text: string) => Promise<void>;
  readonly end: () => Promise<HeldOutputEnd>;
};

/** Holds the first fifth and the newest rest of the output. Beyond the limit, or with `spillsAll`, all goes to the spill file. */
export function createHeldOutput(limit: number, openSpill: (() => Promise<SpillFile>) | undefined, spillsAll = false): HeldOutput {
  const memory = createSegments(limit);
  const counts = countText();
  let total = 0;
  let file: SpillFile | undefined;
  let lost = openSpill === undefined;

  const toFile = async (bytes: Uint8Array): Promise<void> => {
    if (lost || (!spillsAll && total + bytes.length <= memory.capacity)) return;
    try {
      if (!file && openSpill) {
        file = await openSpill();
        for (const segment of memory.all()) await file.write(segment);
      }
      await file?.write(bytes);
    } catch {
      lost = true; // reported by the missing `spilled`
    }
  };

  const store = async (bytes: Uint8Array, text: string): Promise<void> => {
    counts.add(text);
    await toFile(bytes);
    memory.add(bytes);
    total += bytes.length;
  };
  let turn = Promise.resolve();
  return {
    take(bytes, text) {
      turn = turn.then(() => store(bytes, text));
      return turn;
    },
    async end() {
      const spilled = await file?.end().catch(() => undefined);
      return { ...memory.text(), ...counts.end(), ...(spilled && !lost && { spilled }) };
    },
  };
}

/** Fixed-size segments, so that many small writes cost no extra memory. */
function createSegments(limit: number) {
  const most = Math.max(2, Math.floor(limit / SEGMENT_BYTES));
  const head = Math.max(1, Math.floor(most / 5));
  const list: Buffer[] = [];
  let fill = SEGMENT_BYTES;
  let dropped = 0;

  const grow = (): void => {
    if (list.length === most) {
      list.splice(head, 1);
      dropped += SEGMENT_BYTES;
    }
    list.push(Buffer.allocUnsafeSlow(SEGMENT_BYTES));
    fill = 0;
  };
  const all = (): Buffer[] => list.map((segment, i) => (i === list.length - 1 ? segment.subarray(0, fill) : segment));
  return {
    capacity: most * SEGMENT_BYTES,
    all,
    add(bytes: Uint8Array): void {
      for (let from = 0; from < bytes.length; ) {
        if (fill === SEGMENT_BYTES) grow();
        const part = bytes.subarray(from, from + SEGMENT_BYTES - fill);
        list.at(-1)?.set(part, fill);
        fill += part.length;
        from += part.length;
      }
    },
    text(): { readonly output: string; readonly dropped: number } {
      const held = all();
      if (dropped === 0) return { output: Buffer.concat(held).toString("utf8"), dropped };
      const first = wholeCharacters(Buffer.concat(held.slice(0, head)));
      const last = wholeCharacters(Buffer.concat(held.slice(head)));
      return { output: `${first}\n[${dropped} bytes are not shown here]\n${last}`, dropped };
    },
  };
}

function wholeCharacters(bytes: Buffer): string {
  let from = 0;
  while (from < 3 && isContinuation(bytes[from])) from++;
  let to = bytes.length;
  while (to > bytes.length - 3 && isContinuation(bytes[to - 1])) to--;
  const lead = bytes[to - 1] ?? 0;
  const width = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  const whole = to - 1 + width <= bytes.length ? bytes.length : to - 1;
  return bytes.toString("utf8", from, whole);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function countText() {
  let chars = 0;
  let breaks = 0;
  let open = false;
  return {
    add(text: string): void {
      if (text === "") return;
      chars += text.length;
      for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) breaks++;
      open = !text.endsWith("\n");
    },
    end: () => ({ chars, lines: breaks + (open ? 1 : 0) }),
  };
}

import type { Key } from "../draw/dialog.ts";

export type KeyDecoder = {
  readonly name: (data: string) => string | undefined;
  /** A character sent as an escape sequence. */
  readonly printable: (data: string) => string | undefined;
  readonly isRelease: (data: string) => boolean;
};

const PASTE = { begin: "\u001b[200~", end: "\u001b[201~" } as const;

/** Reads one key. Undefined for a key release or an unknown sequence. */
export function readKey(data: string, { name, printable, isRelease }: KeyDecoder): Key | undefined {
  if (data.startsWith(PASTE.begin) && data.endsWith(PASTE.end)) return { pasted: data.slice(PASTE.begin.length, -PASTE.end.length) };
  if (isRelease(data)) return undefined;
  if (data === "\n") return { name: "ctrl+j" }; // Enter sends "\r"; without the kitty protocol the library takes both for Enter
  const character = printable(data) ?? ([...data].length === 1 && data > " " && data !== "\u007f" ? data : undefined);
  if (character !== undefined) return { name: character === " " ? "space" : character };
  const named = name(data);
  return named === undefined ? undefined : { name: named };
}

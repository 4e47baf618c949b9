import { decodeKittyPrintable, isKeyRelease, parseKey } from "@earendil-works/pi-tui";
import type { Key } from "../draw/dialog.ts";

const PASTE = { begin: "\u001b[200~", end: "\u001b[201~" } as const;

/** Reads one key. Undefined for a key release or an unknown sequence. */
export function readKey(data: string): Key | undefined {
  if (data.startsWith(PASTE.begin) && data.endsWith(PASTE.end)) return { pasted: data.slice(PASTE.begin.length, -PASTE.end.length) };
  if (isKeyRelease(data)) return undefined;
  if (data === "\n") return { name: "ctrl+j" }; // Enter sends "\r"; without the kitty protocol the library takes both for Enter
  const character = decodeKittyPrintable(data) ?? ([...data].length === 1 && data > " " && data !== "\u007f" ? data : undefined);
  if (character !== undefined) return { name: character === " " ? "space" : character };
  const name = parseKey(data);
  return name === undefined ? undefined : { name };
}

import { decodeKittyPrintable, isKeyRelease, parseKey } from "@earendil-works/pi-tui";
import type { Key } from "../../../src/tui/draw/dialog.ts";
import { readKey } from "../../../src/tui/input/read-key.ts";

/** The key that a terminal means by these bytes, if any. */
export function readBytes(data: string): Key | undefined {
  return readKey(data, { name: parseKey, printable: decodeKittyPrintable, isRelease: isKeyRelease });
}

/** What a terminal sends for the keys that are no characters. */
const BYTES: Readonly<Record<string, string>> = {
  enter: "\r",
  escape: "\u001b",
  tab: "\t",
  space: " ",
  backspace: "\u007f",
  delete: "\u001b[3~",
  up: "\u001b[A",
  down: "\u001b[B",
  right: "\u001b[C",
  left: "\u001b[D",
  home: "\u001b[H",
  end: "\u001b[F",
  pageUp: "\u001b[5~",
  pageDown: "\u001b[6~",
  f1: "\u001bOP",
  "shift+tab": "\u001b[Z",
  "shift+enter": "\u001b[13;2u",
  "alt+enter": "\u001b\r",
};

/** The names of all keys that are no characters. */
export const KEY_NAMES: readonly string[] = Object.keys(BYTES);

/** What a terminal sends for a key; the names are those of `Key`. */
export function keyBytes(name: string): string {
  const bytes = BYTES[name];
  if (bytes !== undefined) return bytes;
  const [, modifier, letter] = /^(ctrl|alt)\+([a-z])$/.exec(name) ?? [];
  if (letter !== undefined) return modifier === "ctrl" ? String.fromCharCode(letter.charCodeAt(0) - 96) : `\u001b${letter}`;
  if ([...name].length !== 1) throw new Error(`no terminal sends a key ${JSON.stringify(name)}`);
  return name;
}

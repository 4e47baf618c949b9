const MAGIC: readonly (readonly [mediaType: string, matches: (start: string) => boolean])[] = [
  ["image/png", (start) => start.startsWith("\x89PNG\r\n\x1a\n")],
  ["image/jpeg", (start) => start.startsWith("\xff\xd8\xff")],
  ["image/gif", (start) => start.startsWith("GIF87a") || start.startsWith("GIF89a")],
  ["image/webp", (start) => start.startsWith("RIFF") && start.startsWith("WEBP", 8)],
  ["application/pdf", (start) => start.startsWith("%PDF-")],
];

/** The media type of a file that can be given as it is, by its first bytes and not by its name; undefined for all others. */
export function mediaTypeOf(start: Uint8Array): string | undefined {
  const text = Buffer.from(start.subarray(0, 16)).toString("latin1");
  return MAGIC.find(([, matches]) => matches(text))?.[0];
}

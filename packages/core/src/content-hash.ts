import type { Digest } from "./ports.ts";

/** The platform digests larger contents in the background. */
const SMALL = 1024 * 1024;

/** SHA-256 of raw bytes as lower-case hex, by the given digest if it takes bytes. The bytes must not change meanwhile. */
export async function contentHash(bytes: Uint8Array, { sha256Bytes }: Pick<Digest, "sha256Bytes"> = {}): Promise<string> {
  if (sha256Bytes && bytes.length <= SMALL) return sha256Bytes(bytes);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

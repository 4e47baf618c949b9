/** SHA-256 of raw bytes as lower-case hex, by the platform. The bytes must not change meanwhile. */
export async function contentHash(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes)));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

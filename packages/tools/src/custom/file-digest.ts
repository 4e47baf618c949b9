import { readFileSync } from "node:fs";
import { nodeDigest } from "@assent/host";

/** SHA-256 of a file; empty if it cannot be read. */
export function fileDigest(path: string): string {
  try {
    return nodeDigest.sha256Bytes(readFileSync(path));
  } catch {
    return "";
  }
}

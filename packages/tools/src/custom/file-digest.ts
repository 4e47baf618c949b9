import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

/** SHA-256 of a file; empty if it cannot be read. Imports only Node: every thread of a module loads this. */
export function fileDigest(path: string): string {
  try {
    return hash("sha256", readFileSync(path), "hex");
  } catch {
    return "";
  }
}

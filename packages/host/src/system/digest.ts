import { hash } from "node:crypto";
import type { Digest } from "@assent/core";

/** SHA-256 by Node. */
export const nodeDigest: Required<Digest> = {
  sha256: (text) => hash("sha256", text, "hex"),
  sha256Bytes: (bytes) => hash("sha256", bytes, "hex"),
};

import type { Digest } from "@assent/core";
/** SHA-256 by the system's library. */
export declare const nodeDigest: Digest;

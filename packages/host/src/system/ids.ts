import { randomFillSync } from "node:crypto";
import type { Ids } from "@assent/core";

const ALPHABET = Buffer.from("abcdefghijklmnopqrstuvwxyz234567");
const LENGTH = 20;

/** Random ids of 100 bits, drawn from a pool. */
export function createRandomIds(): Ids {
  const pool = new Uint8Array(LENGTH * 512);
  const letters = Buffer.alloc(LENGTH);
  let used = pool.length;
  return {
    next(prefix) {
      if (used === pool.length) {
        randomFillSync(pool);
        used = 0;
      }
      for (let i = 0; i < LENGTH; i++) letters[i] = ALPHABET[(pool[used++] ?? 0) & 31] ?? 0;
      return prefix + letters.toString("latin1");
    },
  };
}

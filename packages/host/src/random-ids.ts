import { randomFillSync } from "node:crypto";
import type { Ids } from "@assent/core";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const LENGTH = 20;

/** Ids of 100 random bits each, drawn from a pool because the system call costs more than the id. */
export function randomIds(): Ids {
  const pool = new Uint8Array(LENGTH * 64);
  let used = pool.length;
  return {
    next(prefix) {
      if (used === pool.length) {
        randomFillSync(pool);
        used = 0;
      }
      let id = prefix;
      for (let i = 0; i < LENGTH; i++) id += ALPHABET.charAt((pool[used++] ?? 0) & 31);
      return id;
    },
  };
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { createGate, type Gate, type GateOptions } from "../src/index.ts";

const directories: string[] = [];
after(() => {
  for (const directory of directories) rmSync(directory, { recursive: true });
});

/** An empty directory for a store, removed after the tests. */
export function newStore(): string {
  const directory = mkdtempSync(join(tmpdir(), "assent-gate-"));
  directories.push(directory);
  return directory;
}

/** Opens a gate for one piece of work. */
export async function withGate<T>(options: GateOptions, act: (gate: Gate) => Promise<T>): Promise<T> {
  const gate = await createGate(options);
  try {
    return await act(gate);
  } finally {
    await gate.close();
  }
}

import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { CommandError, fileProblem } from "./failure.ts";
import type { Io } from "./io.ts";

/** One byte more than an input may have, so that the runtime rejects longer ones. */
const MOST_BYTES = 16 * 1024 * 1024 + 1;

/** The text of `--input`: literal, from `@FILE`, from stdin with `-`, or `{}`. */
export function readCallInput(io: Io, given: string | undefined): Promise<string> {
  if (given === undefined) return Promise.resolve("{}");
  if (given === "-") return readNamed(io, "-", "call");
  return given.startsWith("@") ? readNamed(io, given.slice(1), "call") : Promise.resolve(given);
}

/** Reads a file, or stdin for `-`. Throws a usage error if it is unreadable or not UTF-8. */
export async function readNamed(io: Io, name: string, command: string): Promise<string> {
  const what = name === "-" ? "stdin" : `the file '${name}'`;
  try {
    const bytes = name === "-" ? await io.readStdin(MOST_BYTES) : await readBeginning(resolve(io.cwd, name));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, MOST_BYTES), { stream: bytes.length >= MOST_BYTES });
  } catch (error) {
    const why = error instanceof TypeError ? "it is not UTF-8 text" : fileProblem(error);
    throw new CommandError("usage", 2, { message: `assent ${command}: cannot read ${what}: ${why}` });
  }
}

async function readBeginning(path: string): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    while (size < MOST_BYTES) {
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.allocUnsafe(Math.min(1024 * 1024, MOST_BYTES - size)) });
      if (bytesRead === 0) break;
      chunks.push(buffer.subarray(0, bytesRead));
      size += bytesRead;
    }
    return Buffer.concat(chunks);
  } finally {
    await file.close();
  }
}

import { appendFileSync } from "node:fs";
import promises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename } from "node:path";
import type { Failpoint, Failpoints } from "./failpoints.ts";

/** Calls of Node that change what a name leads to or what stands in a file, and the point each of them is. */
const BY_NAME = { rename: "file.rename", link: "file.link", unlink: "file.unlink", rmdir: "file.rmdir", mkdir: "file.mkdir" } as const;
const BY_HANDLE = { chmod: "file.chmod", sync: "file.sync" } as const;

type Call = (...args: unknown[]) => Promise<unknown>;
type Calls = Record<string, Call>;

/**
 * From now on this process comes to a point before every step that changes files, and says in `log` which it is, as `name file…`.
 * Nothing is asked to go another way: what is not broken happens as it would.
 */
export async function failFiles({ hit, isArmed }: Failpoints, log: string | undefined): Promise<void> {
  const step = (point: Failpoint, ...names: readonly unknown[]): void => {
    if (log !== undefined) appendFileSync(log, `${[point, ...names.map((name) => basename(String(name)))].join(" ")}\n`);
    hit("file.step");
    hit(point);
  };
  const ofFiles = promises as unknown as Calls;
  for (const [name, point] of Object.entries(BY_NAME)) {
    around(ofFiles, name, (original, args) => {
      step(point, ...args.slice(0, 2).filter((arg) => typeof arg === "string"));
      return original(...args);
    });
  }
  around(ofFiles, "open", (original, args) => {
    if (creates(args[1])) step("file.open", args[0]);
    return original(...args);
  });
  const ofHandles = await handlePrototype();
  for (const [name, point] of Object.entries(BY_HANDLE)) {
    around(ofHandles, name, (original, args) => {
      step(point);
      return original(...args);
    });
  }
  around(ofHandles, "writeFile", async function (this: unknown, original, args) {
    step("file.write");
    if (isArmed("file.half")) await writeHalf(this as FileHandle, Buffer.from(args[0] as Uint8Array));
    hit("file.half");
    return original(...args);
  });
  syncBuiltinESMExports();
}

/** Whoever goes on writes all of it, from the beginning. */
async function writeHalf(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  const half = bytes.length >> 1;
  if (half > 0) await handle.write(bytes, 0, half, 0);
}

function creates(flags: unknown): boolean {
  return typeof flags === "number" && (flags & promises.constants.O_CREAT) !== 0;
}

async function handlePrototype(): Promise<Calls> {
  const probe = await promises.open(import.meta.filename);
  await probe.close();
  return Object.getPrototypeOf(probe) as Calls;
}

function around(holder: Calls, name: string, act: (this: unknown, original: Call, args: unknown[]) => Promise<unknown>): void {
  const original = holder[name];
  if (original === undefined) throw new Error(`no ${name} to stand before`);
  holder[name] = async function (this: unknown, ...args) {
    return act.call(this, (...given) => original.apply(this, given), args);
  };
}

import { mkdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname } from "node:path";
import { type Clock, errorCode, type Processes } from "@assent/core";

export type LockOptions = { readonly clock: Clock; readonly processes: Pick<Processes, "startOf"> };

/** Another process holds the lock. */
export class FileLockedError extends Error {
  readonly code = "settings_locked";
  constructor(lock: string) {
    super(`${lock} is held by another process. If no process is writing the settings, delete it.`);
    this.name = "FileLockedError";
  }
}

const MAX_WAIT_MS = 30_000;

/** Age at which a lock counts as abandoned; it is normally held for milliseconds. */
const STALE_MS = 10_000;

/** Runs `act` while holding `FILE.lock`. Breaks the lock of an ended process. */
export async function withFileLock<T>(file: string, parts: LockOptions, act: () => Promise<T>): Promise<T> {
  const { clock } = parts;
  const lock = `${file}.lock`;
  mkdirSync(dirname(file), { recursive: true });
  const deadline = clock.now() + MAX_WAIT_MS;
  while (!tryLock(lock, parts)) {
    if (isLeftBehind(lock, parts)) breakLock(lock, parts);
    else if (clock.now() >= deadline) throw new FileLockedError(lock);
    else await waitForChange(lock, clock);
  }
  try {
    return await act();
  } finally {
    rmSync(lock, { force: true });
  }
}

function tryLock(lock: string, { processes }: LockOptions): boolean {
  const holder = JSON.stringify({ host: hostname(), pid: process.pid, start: processes.startOf(process.pid) ?? "" });
  try {
    writeFileSync(lock, holder, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Two processes must not both remove an abandoned lock, so removing it is locked too. */
function breakLock(lock: string, parts: LockOptions): void {
  const breaking = `${lock}.break`;
  if (!tryLock(breaking, parts)) {
    if (isLeftBehind(breaking, parts)) rmSync(breaking, { force: true });
    return;
  }
  try {
    if (isLeftBehind(lock, parts)) rmSync(lock, { force: true });
  } finally {
    rmSync(breaking, { force: true });
  }
}

function isLeftBehind(lock: string, { clock, processes }: LockOptions): boolean {
  const holder = readHolder(lock);
  if (holder === "gone") return false;
  if (holder?.host === hostname()) return (processes.startOf(holder.pid) ?? "") !== holder.start;
  const stats = statSync(lock, { throwIfNoEntry: false });
  return stats !== undefined && clock.now() - stats.mtimeMs > STALE_MS;
}

type LockHolder = { readonly host: string; readonly pid: number; readonly start: string };

/** Undefined if the holder is not written yet. */
function readHolder(lock: string): LockHolder | "gone" | undefined {
  try {
    return parseHolder(JSON.parse(readFileSync(lock, "utf8")));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "gone";
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function parseHolder(value: unknown): LockHolder | undefined {
  const { host, pid, start } = Object(value) as Partial<Record<keyof LockHolder, unknown>>;
  return typeof host === "string" && typeof pid === "number" && typeof start === "string" ? { host, pid, start } : undefined;
}

const POLL_MS = 200;

/** Resolves when the lock may be free. The timer covers changes before the watch began. */
async function waitForChange(lock: string, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watch(dirname(lock), (_event, name) => {
    if (name === null || name === basename(lock)) resolve();
  });
  watcher.on("error", () => resolve());
  const cancel = clock.timer(POLL_MS, resolve);
  try {
    await promise;
  } finally {
    cancel();
    watcher.close();
  }
}

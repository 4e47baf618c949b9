import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after } from "node:test";
import pg from "pg";

/** The major versions that the tests use: the oldest one that is supported, and the newest. */
export type PostgresVersion = 15 | 18;

export const POSTGRES_VERSIONS: readonly PostgresVersion[] = [15, 18];

/** A server of its own on a socket in a temporary directory, with trust authentication. */
export type PostgresServer = {
  /** The directory of the socket. */
  readonly socket: string;
  /** A connection URL for a database of this server. */
  readonly url: (schema: string, database?: string) => string;
  /** Runs statements as a role of the server. */
  readonly sql: (
    text: string,
    as?: { readonly user?: string; readonly database?: string; readonly port?: number },
  ) => Promise<readonly object[]>;
  /** Stops it like a crash (`kill -9` of all processes) or in order, and starts it again on the same data. */
  readonly restart: (how: "crash" | "in order") => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
};

const ROOT = join(import.meta.dirname, "../../..");
const NOBODY = 65_534;
const INITDB = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"];

/** Starts a server for the tests of a file and removes it after them. Throws with the reason if it cannot start. */
export async function startPostgres(version: PostgresVersion, settings: readonly string[] = []): Promise<PostgresServer> {
  const server = await runPostgres(version, false, settings);
  after(server.remove);
  return server;
}

/** A server that the caller removes. */
export type OwnServer = PostgresServer & { readonly remove: () => Promise<void> };

/** Like `startPostgres`, outside of tests. With `isSynced`, commits wait for the disk. */
export async function runPostgres(version: PostgresVersion, isSynced = false, settings: readonly string[] = []): Promise<OwnServer> {
  const directory = mkdtempSync(join(tmpdir(), `assent-pg${version}-`));
  let running: RunningServer | undefined;
  const stop = async (signal: "INT" | "KILL" = "INT"): Promise<void> => {
    await running?.stop(signal);
    running = undefined;
  };
  const remove = async (): Promise<void> => {
    await stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const made = makeCluster(version, directory);
    const start = async (): Promise<void> => {
      running = await runServer(made, [`fsync=${isSynced ? "on" : "off"}`, ...settings]);
    };
    await start();
    return {
      socket: directory,
      url: (schema, database = "postgres") => `postgres://postgres@/${database}?host=${encodeURIComponent(directory)}&schema=${schema}`,
      sql: async (text, { user = "postgres", database = "postgres", port = 5432 } = {}) => {
        const client = new pg.Client({ host: directory, port, user, database });
        await client.connect();
        try {
          const results: unknown = await client.query<object>(text); // a list if there are several statements
          return (Array.isArray(results) ? results : [results]).flatMap(({ rows }: { readonly rows: readonly object[] }) => rows);
        } finally {
          await client.end();
        }
      },
      restart: async (how) => {
        await stop(how === "crash" ? "KILL" : "INT");
        await start();
      },
      stop,
      start,
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Where the data of a server is, and how its programs are started. */
type Cluster = { readonly program: string; readonly data: string; readonly directory: string; readonly options: object };

function makeCluster(version: PostgresVersion, directory: string): Cluster {
  const isRoot = process.getuid?.() === 0;
  const native = readableCopy(findNative(version), directory, isRoot);
  const env = { ...process.env, LD_LIBRARY_PATH: linkLibraries(native, directory), TZ: "UTC" };
  if (isRoot) chownSync(directory, NOBODY, NOBODY);
  const options = { ...(isRoot && { uid: NOBODY, gid: NOBODY }), env, cwd: directory };
  const data = join(directory, "data");
  const prepared = join(ROOT, "node_modules/.cache/assent-test", `postgres-${version}-${hash("sha256", INITDB.join()).slice(0, 8)}`);
  if (existsSync(prepared)) run(`Copying ${prepared}`, "cp", ["-a", prepared, data], {});
  else {
    run(`initdb of PostgreSQL ${version}`, join(native, "bin/initdb"), ["-D", data, ...INITDB], options);
    prepare(data, prepared);
  }
  return { program: join(native, "bin/postgres"), data, directory, options };
}

/** Keeps a copy of a new cluster for other tests, because copying takes less time than `initdb`. Several processes may do this at once: the first one wins. */
function prepare(data: string, prepared: string): void {
  mkdirSync(dirname(prepared), { recursive: true });
  const copies = mkdtempSync(`${prepared}-`);
  try {
    run(`Copying ${data}`, "cp", ["-a", data, join(copies, "data")], {});
    renameSync(join(copies, "data"), prepared);
  } catch (error) {
    if (!existsSync(prepared)) throw error;
  } finally {
    rmSync(copies, { recursive: true });
  }
}

function run(what: string, program: string, words: readonly string[], options: object): void {
  const { status, error, stderr } = spawnSync(program, words, { ...options, encoding: "utf8" });
  if (status !== 0) throw new Error(`${what} failed: ${error?.message ?? stderr}`);
}

function findNative(version: PostgresVersion): string {
  const name = `postgres-${version}-${process.platform}-${process.arch}`;
  const native = join(ROOT, "node_modules", name, "native");
  if (!existsSync(native))
    throw new Error(`PostgreSQL ${version} for tests is not installed: ${name} is missing. Run npm ci on Linux (x64 or arm64).`);
  return native;
}

/** Another user runs the server of root, and may not be able to reach the repository. */
function readableCopy(native: string, directory: string, isRoot: boolean): string {
  if (!isRoot || isReachable(native)) return native;
  const copy = join(directory, "native");
  cpSync(native, copy, { recursive: true });
  return copy;
}

function isReachable(path: string): boolean {
  return (statSync(path).mode & 0o005) === 0o005 && (dirname(path) === path || isReachable(dirname(path)));
}

/** The package keeps its links in a list, and makes them in a script that npm may not run. */
function linkLibraries(native: string, directory: string): string {
  const libraries = join(directory, "lib");
  mkdirSync(libraries);
  const list = join(native, "pg-symlinks.json");
  // Parsing: the list of the package.
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, "utf8")) as { readonly source: string; readonly target: string }[]) : [];
  for (const { source, target } of links) symlinkSync(join(dirname(native), source), join(libraries, basename(target)));
  return `${libraries}:${join(native, "lib")}`;
}

type RunningServer = { readonly stop: (signal: "INT" | "KILL") => Promise<void> };

/** The shell ends the server when its input ends, so that a killed test leaves none behind. */
const WRAPPER = '"$@" <&- & server=$!; read -r signal || signal=INT; kill -"$signal" $server; wait $server';

async function runServer({ program, data, directory, options }: Cluster, more: readonly string[]): Promise<RunningServer> {
  const settings = ["max_connections=200", "log_min_messages=log", ...more].flatMap((one) => ["-c", one]);
  const child: ChildProcess = spawn("sh", ["-c", WRAPPER, "sh", program, "-D", data, "-h", "", "-k", directory, ...settings], {
    ...options,
    stdio: ["pipe", "ignore", "pipe"],
  });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
  });
  const log: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on("data", (text: Buffer) => {
      log.push(text.toString());
      if (log.join("").includes("ready to accept connections")) resolve();
    });
    child.once("error", reject);
    child.once("close", () => reject(new Error(`PostgreSQL did not start:\n${log.join("")}`)));
  });
  return {
    stop: async (signal) => {
      child.stdin?.end(`${signal}\n`);
      await ended;
    },
  };
}

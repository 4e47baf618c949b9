import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { shellWord } from "../command-line/shell-word.ts";
import type { Context } from "../command-line/spec.ts";
import { usageError } from "../io/failure.ts";
import { warn } from "../io/output.ts";

/** True for `postgres://…`, also if it is malformed. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?(?::|\/\/)/i.test(text);
}

/** The URL of a ledger on PostgreSQL that `--store` or ASSENT_STORE names. */
export function storeUrl({ io, options }: Pick<Context, "io" | "options">): string | undefined {
  const named = options.text("store") ?? io.env["ASSENT_STORE"];
  return named !== undefined && isPostgresUrl(named) ? named : undefined;
}

/** `--store`, else an absolute ASSENT_STORE, else the user's own. Local files of a ledger on PostgreSQL are in the user's own. */
export async function stateDirectory(context: Pick<Context, "io" | "options">): Promise<string> {
  const { io, options } = context;
  const given = options.text("store");
  if (given === "") throw usageError("", "--store is empty. Name a directory, or omit it.");
  const { ASSENT_STORE: store } = io.env;
  refuseOtherUrl(given ?? store ?? "", given === undefined ? "ASSENT_STORE" : "--store");
  if (given === undefined && store && !isAbsolute(store) && !isPostgresUrl(store))
    await warn(
      io,
      `ASSENT_STORE is ignored because it is neither an absolute path nor a postgres:// URL${store.includes("@") ? "." : `: ${store}`}`,
    );
  return locate(context);
}

/** Refuses other URLs and mistyped ones, such as ` postgres://…` and `postgres;//…`, without showing them: they may have a password. */
function refuseOtherUrl(named: string, by: string): void {
  const scheme = /^([^/.]*)[:;]\/\//.exec(named)?.[1];
  if (scheme === undefined || isPostgresUrl(named)) return;
  const found = /^\w+$/.test(scheme) && named.startsWith(`${scheme}:`) ? `not a ${scheme}:// URL` : "and this is neither";
  throw usageError("", `${by} is a directory or a postgres:// URL, ${found}.`);
}

export function locate({ io, options }: Pick<Context, "io" | "options">): string {
  const given = options.text("store");
  if (given && !isPostgresUrl(given)) return resolve(io.cwd, given);
  const { ASSENT_STORE: store, XDG_STATE_HOME: state } = io.env;
  if (!given && store && isAbsolute(store)) return store;
  if (state && isAbsolute(state)) return join(state, "assent");
  return join(userHome(io.env), ".local", "state", "assent");
}

export function configDirectory(env: Readonly<Record<string, string | undefined>>): string {
  const { XDG_CONFIG_HOME: config } = env;
  return join(config && isAbsolute(config) ? config : join(userHome(env), ".config"), "assent");
}

/** True if the settings of the user or the team may choose the store. */
export function mentionsStore(env: Context["io"]["env"]): boolean {
  return !env["ASSENT_STORE"] && mentionsSetting(env, "store");
}

/** True if the settings of the user or the team may have this key. Most do not, and reading them costs time at every start. */
export function mentionsSetting(env: Context["io"]["env"], key: "store" | "audit" | "notify"): boolean {
  return [join(configDirectory(env), "settings.json"), "/etc/assent/settings.json"].some((file) => mentions(file, key));
}

function mentions(file: string, key: string): boolean {
  try {
    return readFileSync(file, "utf8").includes(`"${key}"`);
  } catch (_unreadable) {
    return false; // who needs the settings reports it
  }
}

export function userHome({ HOME: home }: Readonly<Record<string, string | undefined>>): string {
  return home && isAbsolute(home) ? home : userInfo().homedir;
}

/** Repeats `--store` in printed commands, without a password. */
export function storeFlag({ options }: Pick<Context, "options">): string {
  const given = options.text("store");
  return given === undefined ? "" : ` --store ${shellWord(isPostgresUrl(given) ? withoutPassword(given) : given)}`;
}

/** `--store` as the configuration of another program names it: valid in every directory, and without a password. */
export function lastingStore({ io, options }: Pick<Context, "io" | "options">): string | undefined {
  const given = options.text("store");
  if (given === undefined || !isPostgresUrl(given)) return given && resolve(io.cwd, given);
  if (withoutPassword(given) === given) return given;
  throw usageError("", "--store has a password, which every reader of the agent's configuration would see. Put it into ~/.pgpass.");
}

/** The URL as people may see it. */
export function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:/?#]*):.*@/, "$1@").replace(/([?&])(?:ssl)?password=[^&#]*&?/g, "$1");
}

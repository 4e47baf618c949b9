/** One line of git's effective configuration. Scopes `local` and `worktree` belong to the repository, `global` to the user, `command` to us. */
export type GitSetting = { readonly scope: string; readonly key: string; readonly value: string };

export type GitOverride = readonly [key: string, value: string];

/** Git does not run, because it could run a foreign program. */
export class GitRefusal extends Error {
  override readonly name = "GitRefusal";
}

/**
 * Overrides for everything that lets a repository run a program or write. `diff.autoRefreshIndex` would write the index, `log.diffMerges` may run merge
 * drivers, signatures run gpg, `protocol.allow` fetches missing objects, submodules have configurations of their own.
 */
const FIXED_OVERRIDES: readonly GitOverride[] = [
  ["core.fsmonitor", "false"],
  ["diff.autoRefreshIndex", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["log.showSignature", "false"],
  ["log.diffMerges", "separate"],
  ["gpg.program", "false"],
  ["gpg.openpgp.program", "false"],
  ["gpg.x509.program", "false"],
  ["gpg.ssh.program", "false"],
  ["diff.submodule", "short"],
  ["diff.ignoreSubmodules", "dirty"],
  ["status.submoduleSummary", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["core.alternateRefsCommand", "true"],
  ["core.askPass", ""],
  ["http.saveCookies", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["safe.bareRepository", "explicit"],
  ["protocol.allow", "never"],
];

/** Protocols that start no configured program. */
const FETCH_PROTOCOLS = ["file", "http", "https", "ssh"] as const;

/** Keys with a name in the middle, such as `filter.NAME.clean`, and their overrides. `*` is any variable. */
const NAMED_OVERRIDES: readonly (readonly [section: string, variable: string, instead: readonly GitOverride[]])[] = [
  [
    "filter",
    "*",
    [
      ["clean", ""],
      ["smudge", ""],
      ["process", ""],
      ["required", "false"],
    ],
  ],
  [
    "diff",
    "textconv",
    [
      ["textconv", "cat"],
      ["cachetextconv", "false"],
    ],
  ],
  ["diff", "command", [["command", "true"]]],
  ["merge", "driver", [["driver", "false"]]],
  ["gpg", "program", [["program", "false"]]],
  [
    "hook",
    "command",
    [
      ["command", "true"],
      ["enabled", "false"],
    ],
  ],
  ["protocol", "allow", [["allow", "never"]]],
  ["http", "savecookies", [["saveCookies", "false"]]],
];

export type GitContext = {
  readonly fetches: boolean;
  /** True if a path in the repository's configuration leads out of it. */
  readonly leadsOutside: (path: string) => boolean;
};

/** The overrides for one git command. Throws `GitRefusal` for a name that cannot be overridden. */
export function createGitOverrides(settings: readonly GitSetting[], { fetches, leadsOutside }: GitContext): readonly GitOverride[] {
  const foreign = settings.filter(({ scope }) => scope !== "command");
  const named = foreign.flatMap(({ key }) => overridesFor(key));
  const external: readonly GitOverride[] = foreign.some(({ key }) => key === "diff.external") ? [["diff.external", "true"]] : [];
  const files = fileOverrides(foreign, leadsOutside);
  return [...unique(named), ...external, ...files, ...FIXED_OVERRIDES, ...(fetches ? fetchOverrides(foreign) : [])];
}

/** Keys that name files git reads and may show or send. */
const FILE_KEYS =
  /^(?:core\.(?:attributesfile|excludesfile)|mailmap\.file|diff\.orderfile|http\.(?:.*\.)?(?:cookiefile|sslcert|sslkey|proxysslcert|proxysslkey))$/s;

/** Ignores files outside the repository that its own configuration names; the user's settings stay. An empty value empties a list. */
function fileOverrides(settings: readonly GitSetting[], leadsOutside: (path: string) => boolean): readonly GitOverride[] {
  const isOwn = ({ scope }: GitSetting): boolean => scope === "global" || scope === "system";
  const foreign = settings.filter((setting) => FILE_KEYS.test(setting.key) && !isOwn(setting) && leadsOutside(setting.value));
  return [...new Set(foreign.map(({ key }) => key))].flatMap((key) => {
    if (/[=\uFFFD]/.test(key)) throw new GitRefusal(`git's configuration has a key that cannot be overridden (${key})`);
    const kept = settings.filter((setting) => setting.key === key && isOwn(setting)).map(({ value }): GitOverride => [key, value]);
    return [[key, ""] as const, ...kept];
  });
}

export function filterNames(settings: readonly GitSetting[]): readonly string[] {
  const named = settings.map(({ key }) => splitKey(key)).filter(({ section, name }) => section === "filter" && name !== undefined);
  return [...new Set(named.flatMap(({ name }) => name ?? []))];
}

function overridesFor(key: string): readonly GitOverride[] {
  const { section, name, variable } = splitKey(key);
  if (name === undefined) return [];
  const rows = NAMED_OVERRIDES.filter((row) => row[0] === section && (row[1] === "*" || row[1] === variable));
  if (rows.length > 0 && !/^[^=\uFFFD]*$/.test(name))
    throw new GitRefusal(`git's configuration has a ${section} with a name that cannot be overridden`);
  return rows.flatMap(([, , instead]) => instead.map(([what, value]): GitOverride => [`${section}.${name}.${what}`, value]));
}

/** `filter.a.b.clean`: the name is `a.b`. */
function splitKey(key: string): { readonly section: string; readonly name?: string; readonly variable: string } {
  const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
  const ends = { section: key.slice(0, first), variable: key.slice(last + 1) };
  return first === last ? ends : { ...ends, name: key.slice(first + 1, last) };
}

function unique(overrides: readonly GitOverride[]): readonly GitOverride[] {
  return [...new Map(overrides)];
}

function fetchOverrides(settings: readonly GitSetting[]): readonly GitOverride[] {
  const packer = settings.find(({ scope, key }) => scope !== "global" && /^remote\..*\.uploadpack$/s.test(key));
  if (packer) throw new GitRefusal(`the repository names the program that a fetch would run (${packer.key})`);
  const own = settings.filter(({ scope }) => scope === "global");
  const ssh = own.findLast(({ key }) => key === "core.sshcommand")?.value ?? "ssh";
  const helpers = own.filter(({ key }) => /^credential\.(?:[^=]*\.)?helper$/.test(key));
  return [
    ...FETCH_PROTOCOLS.map((protocol): GitOverride => [`protocol.${protocol}.allow`, "always"]),
    ["core.sshCommand", ssh],
    ["credential.helper", ""],
    ...helpers.map(({ key, value }): GitOverride => [key, value]),
  ];
}

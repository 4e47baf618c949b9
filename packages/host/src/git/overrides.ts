/** One line of git's effective configuration. Scope `local` and `worktree` are the repository's own, `global` is the user's, `command` is what we gave. */
export type GitSetting = { readonly scope: string; readonly key: string; readonly value: string };

/** A key with the value it has for one command, whatever files say. */
export type GitOverride = readonly [key: string, value: string];

/** Git cannot be kept from running somebody's program, so it does not run. */
export class GitRefusal extends Error {
  override readonly name = "GitRefusal";
}

/**
 * What a repository may say to make git run a program, and what holds instead. `diff.autoRefreshIndex`: a look at a
 * difference would write the index. `log.diffMerges`: a merge that is made again runs merge drivers. The signature
 * programs: a configured format may ask for a signature. `protocol.allow`: a missing object is fetched from wherever the repository says. Submodules are repositories
 * with a configuration of their own, so git is kept from starting itself in them. A bare repository in the workspace is made of ordinary files.
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

/** Ways to another repository that start no program a configuration names. */
const FETCH_PROTOCOLS = ["file", "http", "https", "ssh"] as const;

/** Keys with a name in the middle, and what each such name gets instead. A variable `*` stands for any. */
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

/** What overrides depend on. */
export type GitContext = {
  readonly fetches: boolean;
  /** Whether a path in the repository's own configuration leads out of it. */
  readonly leadsOutside: (path: string) => boolean;
};

/** What holds for one git command instead of what the configuration says. Throws a refusal for a name that cannot be given on a command line. */
export function createGitOverrides(settings: readonly GitSetting[], { fetches, leadsOutside }: GitContext): readonly GitOverride[] {
  const foreign = settings.filter(({ scope }) => scope !== "command");
  const named = foreign.flatMap(({ key }) => overridesFor(key));
  const external: readonly GitOverride[] = foreign.some(({ key }) => key === "diff.external") ? [["diff.external", "true"]] : [];
  const files = fileOverrides(foreign, leadsOutside);
  return [...unique(named), ...external, ...files, ...FIXED_OVERRIDES, ...(fetches ? fetchOverrides(foreign) : [])];
}

/** Keys whose value is a file that git reads. Git may show its content in results or errors, or send it to a server. */
const FILE_KEYS =
  /^(?:core\.(?:attributesfile|excludesfile)|mailmap\.file|diff\.orderfile|http\.(?:.*\.)?(?:cookiefile|sslcert|sslkey|proxysslcert|proxysslkey))$/s;

/** Files outside the repository that its own configuration names are not read. The user's own settings for the same key stay. An empty value empties a list. */
function fileOverrides(settings: readonly GitSetting[], leadsOutside: (path: string) => boolean): readonly GitOverride[] {
  const isOwn = ({ scope }: GitSetting): boolean => scope === "global" || scope === "system";
  const foreign = settings.filter((setting) => FILE_KEYS.test(setting.key) && !isOwn(setting) && leadsOutside(setting.value));
  return [...new Set(foreign.map(({ key }) => key))].flatMap((key) => {
    if (/[=\uFFFD]/.test(key)) throw new GitRefusal(`git's configuration has a key that cannot be overridden (${key})`);
    const kept = settings.filter((setting) => setting.key === key && isOwn(setting)).map(({ value }): GitOverride => [key, value]);
    return [[key, ""] as const, ...kept];
  });
}

/** The names of filters that the configuration defines. */
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

/** `filter.a.b.clean`: the name is what stands between the first and the last dot. */
function splitKey(key: string): { readonly section: string; readonly name?: string; readonly variable: string } {
  const [first, last] = [key.indexOf("."), key.lastIndexOf(".")];
  const ends = { section: key.slice(0, first), variable: key.slice(last + 1) };
  return first === last ? ends : { ...ends, name: key.slice(first + 1, last) };
}

function unique(overrides: readonly GitOverride[]): readonly GitOverride[] {
  return [...new Map(overrides)];
}

/** The user's own ssh command and credential helpers stay; the repository's do not. An empty helper empties the list. Of two `uploadpack` git takes the first. */
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

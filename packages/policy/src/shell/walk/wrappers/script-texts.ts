import type { WrapperSpec } from "../../programs/option-scan.ts";

/** Builtins that keep or run a text as a script. */
export const SCRIPT_BUILTINS: Readonly<Record<string, WrapperSpec>> = {
  trap: { inert: "- -l -p -P", rest: "text" },
  mapfile: { scripts: "-C", values: "-c -d -n -O -s -u", flags: "-t", rest: "nothing" },
  readarray: { scripts: "-C", values: "-c -d -n -O -s -u", flags: "-t", rest: "nothing" },
  complete: {
    scripts: "-C -F",
    values: "-A -G -o -P -S -W -X",
    flags: "-a -b -c -d -e -f -g -j -k -p -r -s -u -v -D -E -I",
    rest: "nothing",
  },
  compgen: { scripts: "-C -F", values: "-A -G -o -P -S -V -W -X", flags: "-a -b -c -d -e -f -g -j -k -s -u -v", rest: "nothing" },
  bind: { scripts: "-x", values: "-f -m -q -r -u", flags: "-l -p -P -s -S -v -V -X", rest: "nothing" },
  hash: { scripts: "-p", flags: "-d -l -r -t", rest: "nothing" },
  fc: { scripts: "-e", flags: "-l -n -r -s", rest: "nothing" },
};

/** Builtins that evaluate a subscript in a word they are given, with the substitutions in it. */
export const SUBSCRIPT_BUILTINS: ReadonlySet<string> = new Set(
  "test [ printf let read mapfile readarray declare typeset local export readonly unset wait getopts".split(" "),
);

/** Variables whose value a shell or a program runs as a command. */
const SCRIPT_VARIABLES: ReadonlySet<string> = new Set(
  (
    "PROMPT_COMMAND PS0 PS1 PS2 PS4 PAGER MANPAGER GIT_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND " +
    "GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS BROWSER FCEDIT " +
    "RSYNC_RSH RSYNC_CONNECT_PROG GIT_PROXY_COMMAND LESSOPEN LESSCLOSE TEXTUTIL_PAGER SYSTEMD_PAGER RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER"
  ).split(" "),
);

/** The script that the value of a variable is; undefined: it is none. Options for tar, and settings for git, are read as if they stood on its line. */
export function variableScript(name: string, value: string): string | undefined {
  if (SCRIPT_VARIABLES.has(name)) return value;
  if (name === "TAR_OPTIONS") return `tar ${value}`;
  if (name === "GIT_CONFIG_PARAMETERS") return `git ${value.replaceAll(/'[^']*'/g, "-c $&")}`;
  const isSetting = /^GIT_CONFIG_VALUE_\d+$/.test(name) && !/^[^"']*(?:"[^"]*|'[^']*)$/.test(value); // a person's name may hold a quote
  return isSetting ? value.replace(/^!/, "") : undefined;
}

/** Commands among whose words variables are set. */
export const SETTERS: ReadonlySet<string> = new Set("export declare typeset readonly local env sudo doas".split(" "));

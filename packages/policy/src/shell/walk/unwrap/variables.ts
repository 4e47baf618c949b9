const SCRIPT_VARIABLES: ReadonlySet<string> = new Set(
  (
    "PROMPT_COMMAND PS0 PS1 PS2 PS4 PAGER MANPAGER GIT_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND " +
    "GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS BROWSER FCEDIT " +
    "RSYNC_RSH RSYNC_CONNECT_PROG GIT_PROXY_COMMAND LESSOPEN LESSCLOSE TEXTUTIL_PAGER SYSTEMD_PAGER RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER"
  ).split(" "),
);

/** The script in a variable's value. Options for tar and settings for git are read as part of their command line. */
export function variableScript(name: string, value: string): string | undefined {
  if (SCRIPT_VARIABLES.has(name)) return value;
  if (name === "TAR_OPTIONS") return `tar ${value}`;
  if (name === "GIT_CONFIG_PARAMETERS") return `git ${value.replaceAll(/'[^']*'/g, "-c $&")}`;
  const isSetting = /^GIT_CONFIG_VALUE_\d+$/.test(name) && !/^[^"']*(?:"[^"]*|'[^']*)$/.test(value); // a value with an unpaired quote is text, such as the user name O'Brien
  return isSetting ? value.replace(/^!/, "") : undefined;
}

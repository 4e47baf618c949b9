/** Options of git sub-commands whose value is run as a command; `*` stands for any letters. */
export const GIT_SCRIPT_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  rebase: ["-x", "--exec"],
  difftool: ["-x", "--extcmd"],
  "filter-branch": ["--*-filter"],
  grep: ["-O", "--open-files-in-pager"],
  fetch: ["--upload-pack"],
  pull: ["--upload-pack"],
  clone: ["-u", "--upload-pack"],
  "ls-remote": ["--upload-pack", "--exec"],
  "fetch-pack": ["--upload-pack", "--exec"],
  push: ["--receive-pack", "--exec"],
  "send-pack": ["--receive-pack", "--exec"],
  archive: ["--exec"],
  "send-email": ["--sendmail-cmd", "--to-cmd", "--cc-cmd", "--header-cmd", "--smtp-server"],
  instaweb: ["-d", "--httpd", "-b", "--browser"],
  daemon: ["--access-hook"],
};

/** Sub-commands after which a command stands, as words or as one text. */
export const GIT_RUNNERS: readonly (readonly [sub: string, action: string])[] = [
  ["submodule", "foreach"],
  ["bisect", "run"],
];

/** Configuration keys (lower-cased) whose value is run as a command. */
export const GIT_SCRIPT_KEYS: RegExp =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|diff\.external|sequence\.editor|pager\..+|gpg\.(?:.+\.)?program|credential\.(?:.+\.)?helper|uploadpack\.packobjectshook|interactive\.difffilter|imap\.tunnel|gpg\.ssh\.defaultkeycommand|sendemail\.(?:.+\.)?(?:smtpserver|\w+cmd)|.+\.(?:textconv|command|cmd|clean|smudge|process|driver|path|uploadpack|receivepack|vcs))$/;

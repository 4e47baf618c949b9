/** Names that no setting may pass on to a command nobody looked at: they redirect a shell, the loader or a program, or they are secrets. A star stands for any text. */
const REFUSED: readonly string[] = [
  ...["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "CDPATH", "PROMPT_COMMAND", "LD_*", "DYLD_*", "BASH_FUNC_*", "ASSENT_*"],
  ...["*_API_KEY", "*_TOKEN", "*_SECRET", "*PASSWORD*", "API_KEY", "TOKEN", "SECRET"],
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AZURE_OPENAI_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "OPENAI_KEY"],
  ...["NODE_OPTIONS", "NODE_PATH", "PYTHON*", "PERL5*", "RUBY*", "GIT_*", "NPM_CONFIG_*", "PAGER", "EDITOR", "VISUAL", "LESS*"],
];

/** A variable's name that may be passed to a command allowed by a rule. Case does not count: some programs do not look at it. */
export function isPassable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !REFUSED.some((glob) => covers(glob, name.toUpperCase()));
}

/** Stars stand at the ends only. */
function covers(glob: string, name: string): boolean {
  const core = glob.replaceAll("*", "");
  const [head, tail] = [!glob.startsWith("*"), !glob.endsWith("*")];
  if (head && tail) return name === core;
  if (head) return name.startsWith(core);
  return tail ? name.endsWith(core) : name.includes(core);
}

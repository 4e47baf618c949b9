/** Names that change what a shell or the loader runs, whoever set them. Exported shell functions are among them: they could stand for the command that was shown. */
const NEVER = ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "CDPATH", "PROMPT_COMMAND", "LD_*", "DYLD_*", "ASSENT_*", "BASH_FUNC_*"];

/** Names of secrets. A provider's key whose name does not say so is listed by name. */
const SECRETS = [
  ...["*_API_KEY", "*_TOKEN", "*_SECRET", "*PASSWORD*", "API_KEY", "TOKEN", "SECRET"],
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AZURE_OPENAI_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "OPENAI_KEY"],
];

/** The user's environment as an approved command gets it: without secrets (`secretEnv` adds name globs) and without what redirects a shell. */
export function commandEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  secretEnv: readonly string[] = [],
): Readonly<Record<string, string>> {
  return withoutNames(environment, [...NEVER, ...SECRETS, ...secretEnv]);
}

/** The variables that have a value and whose name no glob covers. Case does not count: some programs do not look at it. */
export function withoutNames(
  environment: Readonly<Record<string, string | undefined>>,
  globs: readonly string[],
): Readonly<Record<string, string>> {
  const hidden = globs.map((glob) => glob.toUpperCase());
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !hidden.some((glob) => matches(glob, name.toUpperCase()))) passed[name] = value;
  }
  return passed;
}

/** Stars only. Each literal piece is taken at its first place, which is linear and, with both ends fixed, exact. */
function matches(glob: string, name: string): boolean {
  const [first = "", ...rest] = glob.split("*");
  const last = rest.pop();
  if (last === undefined) return glob === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

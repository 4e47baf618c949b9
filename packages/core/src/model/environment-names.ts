/** Globs of variables that change what a shell or the loader runs. */
export const SHELL_VARIABLES: readonly string[] = [
  ...["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "IFS", "CDPATH", "PROMPT_COMMAND"],
  ...["LD_*", "DYLD_*", "BASH_FUNC_*", "ASSENT_*"],
];

/** Globs of variables that usually hold secrets. */
export const SECRET_VARIABLES: readonly string[] = [
  ...["*_API_KEY", "*_TOKEN", "*_SECRET", "*PASSWORD*", "API_KEY", "TOKEN", "SECRET"],
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AZURE_OPENAI_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "OPENAI_KEY"],
  "ASSENT_STORE", // may contain a password
];

/** Globs of variables that make programs load or run something. */
export const PROGRAM_VARIABLES: readonly string[] = [
  ...["NODE_OPTIONS", "NODE_PATH", "PYTHON*", "PERL5*", "RUBY*", "GIT_*", "NPM_CONFIG_*"],
  ...["PAGER", "EDITOR", "VISUAL", "LESS*"],
];

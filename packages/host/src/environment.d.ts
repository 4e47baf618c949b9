/** The user's environment as an approved command gets it: without secrets (`secretEnv` adds name globs) and without what redirects a shell. */
export declare function commandEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  secretEnv?: readonly string[],
): Readonly<Record<string, string>>;

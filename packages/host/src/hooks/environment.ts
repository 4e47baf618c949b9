import type { HookBody, HookEntry } from "@assent/core/parts";
import { createCommandEnvironment, type SecretNames } from "../system/environment.ts";

/** What a program's environment is made of. */
export type HookEnvironmentOptions = SecretNames & {
  /** The user's own. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly projectDir: string;
  readonly sessionId: string;
};

/**
 * The user's environment without secrets and what redirects a shell; then what the hook asks for by name; then what is true of this run. The project's
 * `secretEnv` applies only to its own hooks: hidden variables could blind a hook of the user or the team.
 */
export function createHookEnvironment(
  { environment, secretEnv, projectSecretEnv, projectDir, sessionId }: HookEnvironmentOptions,
  { env, passEnv }: Extract<HookBody, { readonly type: "command" }>,
  { event, source }: Pick<HookEntry, "event" | "source">,
): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const name of passEnv ?? []) {
    const value = environment[name];
    if (value !== undefined) passed[name] = value;
  }
  return {
    ...createCommandEnvironment(environment, { secretEnv, projectSecretEnv: source === "project" ? projectSecretEnv : [] }),
    ...passed,
    ...env,
    ASSENT_PROJECT_DIR: projectDir,
    ASSENT_SESSION_ID: sessionId,
    ASSENT_HOOK_EVENT: event,
    CLAUDE_PROJECT_DIR: projectDir,
  };
}

import type { HookBody, HookEntry } from "@assent/core/parts";
import { createCommandEnvironment, type SecretNames } from "../system/environment.ts";

/** What a hook's environment is built from. */
export type HookEnvironmentOptions = SecretNames & {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly projectDir: string;
  readonly sessionId: string;
};

/**
 * The user's environment without secrets and shell redirections, plus the hook's own variables. The project's `secretEnv` applies only to project hooks,
 * so that it cannot hide variables from others.
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

import type { HookBody } from "@assent/core/parts";
import { commandEnvironment } from "../environment.ts";

/** What a program's environment is made of. */
export type HookSurroundings = {
  /** The user's own. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Name globs added to the built-in secrets. */
  readonly secretEnv?: readonly string[];
  readonly projectDir: string;
  readonly sessionId: string;
};

/** The user's environment without secrets and what redirects a shell; then what the hook asks for by name; then what is true of this run. */
export function hookEnvironment(
  { environment, secretEnv, projectDir, sessionId }: HookSurroundings,
  { env, passEnv }: Extract<HookBody, { readonly type: "command" }>,
  event: string,
): Readonly<Record<string, string>> {
  const passed: Record<string, string> = {};
  for (const name of passEnv ?? []) {
    const value = environment[name];
    if (value !== undefined) passed[name] = value;
  }
  return {
    ...commandEnvironment(environment, secretEnv),
    ...passed,
    ...env,
    ASSENT_PROJECT_DIR: projectDir,
    ASSENT_SESSION_ID: sessionId,
    ASSENT_HOOK_EVENT: event,
    CLAUDE_PROJECT_DIR: projectDir,
  };
}

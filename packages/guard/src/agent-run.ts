import type { AgentName } from "./agents.ts";
import type { PlannedToolCall } from "./fake-model/plan.ts";

/** How to run an agent once, without a person, in its most permissive mode, against a model server on loopback. */
export type AgentRun = {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** A file to write first, and the variable that names it. */
  readonly config?: { readonly variable: string; readonly text: string };
};

const KEY = "not-a-real-key";
const PROVIDER = "assent_local";

/** The call of a command line in the agent's own words. */
export function shellCall(agent: AgentName, command: string): PlannedToolCall {
  switch (agent) {
    case "claude":
      return { name: "Bash", input: { command, description: "run it" } };
    case "codex":
      return { name: "exec_command", input: { cmd: command } };
    case "opencode":
      return { name: "bash", input: { command, description: "run it" } };
    case "gemini":
    case "qwen":
      return { name: "run_shell_command", input: { command, ...(agent === "qwen" && { is_background: false }) } };
    default:
      return agent satisfies never;
  }
}

/** The command line and environment of one run. `url` is the model server's. */
export function agentRun(agent: AgentName, url: string): AgentRun {
  switch (agent) {
    case "claude":
      return {
        program: "claude",
        args: ["-p", "go", "--model", "claude-sonnet-4-5", "--output-format", "json", "--permission-mode", "bypassPermissions"],
        env: {
          ANTHROPIC_BASE_URL: url,
          ANTHROPIC_API_KEY: KEY,
          DISABLE_TELEMETRY: "1",
          DISABLE_ERROR_REPORTING: "1",
          DISABLE_AUTOUPDATER: "1",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          IS_SANDBOX: "1", // as root, it refuses this mode otherwise
        },
      };
    case "codex": {
      const provider = `{ name = "local", base_url = "${url}/v1", wire_api = "responses", env_key = "ASSENT_LOCAL_KEY", requires_openai_auth = false }`;
      const settings = [`model_provider="${PROVIDER}"`, `model_providers.${PROVIDER}=${provider}`, 'model="gpt-5"'];
      return {
        program: "codex",
        args: [
          ...["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
          ...settings.flatMap((setting) => ["-c", setting]),
          "go",
        ],
        env: { ASSENT_LOCAL_KEY: KEY },
      };
    }
    case "gemini":
      return {
        program: "gemini",
        args: ["-p", "go", "-m", "gemini-2.5-flash", "--approval-mode", "yolo"],
        env: {
          GEMINI_API_KEY: KEY,
          GOOGLE_GEMINI_BASE_URL: url,
          GEMINI_CLI_TRUST_WORKSPACE: "true",
        },
        config: {
          variable: "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
          text: JSON.stringify({ security: { auth: { selectedType: "gemini-api-key" } }, telemetry: { enabled: false } }),
        },
      };
    case "qwen":
      return {
        program: "qwen",
        args: ["-p", "go", "--yolo", "--auth-type", "openai"],
        env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "local", NO_UPDATE_NOTIFIER: "1" },
      };
    case "opencode": {
      const model = { name: "local", tool_call: true };
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        name: "local",
        options: { baseURL: `${url}/v1`, apiKey: KEY },
        models: { local: model },
      };
      return {
        program: "opencode",
        args: ["run", "-m", `${PROVIDER}/local`, "go"],
        env: {
          OPENCODE_DISABLE_AUTOUPDATE: "1",
          OPENCODE_DISABLE_MODELS_FETCH: "1",
          OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
          npm_config_offline: "true", // its first start with a plugin would wait for a package that Assent's plugin does not need
        },
        config: { variable: "OPENCODE_CONFIG", text: JSON.stringify({ provider: { [PROVIDER]: provider }, permission: "allow" }) },
      };
    }
    default:
      return agent satisfies never;
  }
}

import { quoteWord } from "@assent/core/parts";
import type { AgentName } from "../agents.ts";
import { denyQwen } from "../wires/claude.ts";

/** How the agent calls the wrapper. */
export type HookSetup = {
  readonly wrapper: string;
  /** Options of `assent hook`: for all events, and before a call. */
  readonly options: readonly string[];
  readonly decideOptions: readonly string[];
  readonly timeoutSeconds: number;
  /** Assent also answers while the agent shows its own dialog. */
  readonly besideDialog: boolean;
};

/** What the wrapper starts. */
export type WrapperCommand = {
  readonly node: string;
  readonly program: string;
  /** The environment of the person who installs. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** A project can set variables for hooks in some agents. These would choose other settings, another record, or other code. */
const FIXED = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "ASSENT_STORE", "NODE_OPTIONS", "NODE_PATH", "NODE_COMPILE_CACHE"];

/** The lines of a script that set or remove these variables. */
export function wrapperEnvironment(env: WrapperCommand["env"]): readonly string[] {
  return FIXED.map((name) => {
    const value = env[name];
    return value === undefined || name === "NODE_OPTIONS" ? `unset ${name}` : `export ${name}=${quoteWord(value)}`;
  });
}

/** A hook that computes for longer is ended. It would be late, and most agents run a call whose hook is late. */
const MOST_CPU_SECONDS = 60;

/**
 * A shell script between an agent and `assent hook`. It denies (exit code 2) when Assent crashes, is killed or cannot start, because most
 * agents run a call whose hook failed. Reports never end with 2: that would keep an agent from stopping. Functions that the environment
 * brings into some shells do not replace the programs it uses. Qwen Code reads a denial only if nothing else is on stderr.
 */
export function wrapperScript({ node, program, env }: WrapperCommand): string {
  return [
    "#!/bin/sh",
    "# Written by assent hook install. Usage: assent-hook AGENT decide|report [OPTIONS]",
    "unset -f echo printf ulimit",
    ...wrapperEnvironment(env),
    "agent=$1",
    "use=$2",
    "shift 2",
    "exec 3>&2",
    "case $agent.$use in qwen.decide) exec 2>/dev/null ;; esac",
    `answer=$(ulimit -S -t ${MOST_CPU_SECONDS}; exec ${quoteWord(node)} ${quoteWord(program)} hook "$agent" "$@" 3>&-)`,
    "status=$?",
    'case $agent.$use.$status.$([ -z "$answer" ] || echo text) in',
    "  *.report.*) exit 0 ;;",
    "  *.decide.0.*) ;;",
    `  qwen.decide.2.text) printf '%s\\n' "$answer" >&3; exit 2 ;;`,
    "  [!q]*.decide.2.*) exit 2 ;;",
    '  *) why="Assent ended with status $status before it could decide, so this call is denied. A person can find out why with: assent hook doctor $agent"',
    `    case $agent in qwen) printf '${denyQwen("%s").stdout.replace("\n", "\\n")}' "$why" "$why" ;; *) echo "$why" ;; esac >&3`,
    "    exit 2 ;;",
    "esac",
    `case $answer in ?*) printf '%s\\n' "$answer" || exit 2 ;; esac`,
    "exit 0",
    "",
  ].join("\n");
}

/** What follows the wrapper in a hook's command line. */
export function wrapperArguments({ options, decideOptions }: HookSetup, agent: AgentName, use: "decide" | "report"): readonly string[] {
  return [agent, use, ...(use === "decide" ? decideOptions : []), ...options];
}

import { quoteWord } from "@assent/core/parts";
import { type WrapperCommand, wrapperEnvironment } from "../install/wrapper.ts";

/** The name of the script that clients start instead of their servers. */
export const GATEWAY_NAME = "assent-mcp";

/** How clients start the gateway. */
export type GatewaySetup = {
  readonly wrapper: string;
  /** Options of `assent mcp serve` for every server. */
  readonly options: readonly string[];
  /** The name of a server as rules write it; undefined if it cannot have one. */
  readonly ruleName: (name: string) => string | undefined;
  /** Where the addresses of the servers of a group are kept. */
  readonly addressFile: (group: string) => string;
};

/** What a client starts or connects to, without the gateway. */
export type ServerTarget =
  | { readonly type: "program"; readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | {
      readonly type: "http" | "sse";
      readonly url: string;
      /** Variables are written as `${VAR}`. */
      readonly headers: Readonly<Record<string, string>>;
    };

/** Variables that the wrapper fixes, so that a server's own value must be set behind it. */
const FIXED_VARIABLES: readonly string[] = wrapperEnvironment({}).map((line) => line.replace(/^unset /, ""));

/** The script: `assent mcp serve` with the settings and the record of the person who installed it. */
export function gatewayScript({ node, program, env }: WrapperCommand): string {
  return [
    "#!/bin/sh",
    "# Written by assent mcp install.",
    ...wrapperEnvironment(env),
    `exec ${quoteWord(node)} ${quoteWord(program)} mcp serve "$@"`,
    "",
  ].join("\n");
}

/** The arguments of the gateway for one server. */
export function gatewayArguments(target: ServerTarget, name: string, group: string, setup: GatewaySetup): readonly string[] {
  if (target.type !== "program") return [...setup.options, "--strict-mcp-config", `--mcp-config=${setup.addressFile(group)}`, name];
  const { command, args, env } = target;
  const fixed = Object.entries(env).flatMap(([variable, value]) => (isFixed(variable) ? [`${variable}=${value}`] : []));
  return [...setup.options, `--name=${name}`, "--", ...(fixed.length > 0 ? ["env", ...fixed] : []), command, ...args];
}

function isFixed(variable: string): boolean {
  return FIXED_VARIABLES.includes(variable) || variable.startsWith("ASSENT_");
}

/**
 * What runs behind the gateway; undefined if the command is not one that `gatewayArguments` writes. Any other option could loosen the rules, so such a
 * command counts as a server like any other.
 */
export function readGatewayArguments(
  command: string | undefined,
  args: readonly string[],
  { wrapper }: Pick<GatewaySetup, "wrapper">,
): { readonly command: string; readonly args: readonly string[] } | "address" | undefined {
  if (command !== wrapper) return undefined;
  const [first] = args;
  const rest = first === "--store" ? args.slice(2) : args;
  if (rest[0] === "--strict-mcp-config" && rest[1]?.startsWith("--mcp-config=") && rest.length === 3) return "address";
  if (!/^--name=[\w-]+$/.test(rest[0] ?? "") || rest[1] !== "--" || rest[2] === undefined) return undefined;
  return { command: rest[2], args: rest.slice(3) };
}

import { shellWord } from "../command-line/shell-word.ts";
import type { Context } from "../command-line/spec.ts";
import { readFlags } from "../compose/flags.ts";
import { followPolicy } from "../compose/follow-policy.ts";
import { readPlace } from "../compose/place.ts";
import { asFailure } from "../io/failure.ts";
import { printFailure } from "../io/output.ts";
import { readCallInput } from "../io/read-input.ts";
import { withStore } from "../store/open.ts";
import { type CallEnd, printCallEnd } from "./end.ts";
import { beginCall } from "./session.ts";

/** Runs one call in its own session. */
export async function callTool(context: Context): Promise<number> {
  const { io, options, operands } = context;
  const flags = readFlags(context);
  const place = readPlace(context, "call");
  const policy = await followPolicy(context, { workspace: place.workspace, flags });
  const text = await readCallInput(io, options.text("input"));
  return withStore(context, async (store) => {
    const { end, exit, failure } = await beginCall(context, store, { tool: operands[0] ?? "", text, flags, place, policy });
    await printCallEnd(context, end);
    if (!options.flag("json")) await io.stderr.write(inputHint(context, end));
    if (failure !== undefined) await printFailure(io, asFailure(failure), false);
    return exit;
  });
}

const TOOL_INPUT: Readonly<Record<string, string>> = {
  invalid_json: "--input takes JSON, quoted for your shell. What this tool accepts",
  invalid_tool_params: "What this tool accepts",
};

const NAMED_ONLY = "With --policy, custom tools are loaded only if you name their file with --tool FILE.\n";

const OF_SERVERS =
  "assent call does not start MCP servers. Their tools can be called in a run, in the terminal, and through assent mcp serve.\n";

function inputHint({ operands: [tool = ""], options }: Context, end: CallEnd): string {
  if (end.outcome !== "invalid") return "";
  if (end.type === "tool_not_registered")
    return `${options.text("policy") === undefined ? "" : NAMED_ONLY}${tool.startsWith("mcp__") ? OF_SERVERS : ""}See: assent tools\n`;
  const what = TOOL_INPUT[end.type ?? ""];
  return what === undefined ? "" : `${what}: assent tools ${shellWord(tool)}\n`;
}

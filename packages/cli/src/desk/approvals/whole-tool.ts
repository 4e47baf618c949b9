import type { OpenApproval } from "@assent/core";

/** The rule that lets all of the tool pass, where that may be offered beside the rules for the like; a command is never just any command. */
export function wholeTool({ details, tool, suggestions }: OpenApproval): readonly string[] {
  return details.type === "exec" || tool === "resolve" || suggestions.includes(tool) ? [] : [tool];
}

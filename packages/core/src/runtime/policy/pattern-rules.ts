import { matchesPattern, parsePattern } from "../../model/pattern/pattern.ts";
import type { Request } from "../../model/request.ts";
import type { Rules } from "../../ports.ts";

/**
 * Remembered answers in the `tool:arg=glob` notation; what is offered is the tool's name.
 * A tool that executes has its `command` read narrowly: only a line of plain words is ever covered.
 */
export const patternRules: Rules = {
  parse: (text) => {
    const pattern = parsePattern(text);
    return { text, covers: (request) => matchesPattern(pattern, "allow", subjectOf(request)) };
  },
  offer: (request) => (matchesPattern(parsePattern(request.tool), "allow", subjectOf(request)) ? [request.tool] : []),
};

function subjectOf({ tool, input, kind }: Request): Parameters<typeof matchesPattern>[2] {
  return kind === "execute" ? { tool, input, commandArg: "command" } : { tool, input };
}

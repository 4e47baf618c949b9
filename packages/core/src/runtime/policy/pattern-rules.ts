import { matchesPattern, parsePattern, UNREAD_COMMAND } from "../../model/pattern/pattern.ts";
import type { Request } from "../../model/request.ts";
import type { Rules } from "../../ports.ts";

/** Grant rules in the `tool:arg=glob` notation; for tools that execute, they cover only commands of plain words. */
export const patternRules: Rules = {
  parse: (text) => {
    const pattern = parsePattern(text);
    return { text, covers: (request) => matchesPattern(pattern, "allow", subjectOf(request)) };
  },
  offer: (request) => (matchesPattern(parsePattern(request.tool), "allow", subjectOf(request)) ? [request.tool] : []),
};

function subjectOf({ tool, input, kind }: Request): Parameters<typeof matchesPattern>[2] {
  return kind === "execute" ? { ...UNREAD_COMMAND, tool, input } : { tool, input };
}

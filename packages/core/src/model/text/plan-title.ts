import { unicodePattern } from "./unicode-pattern.ts";

/** A plan's title, or why the one that was given cannot be used. */
export type PlanTitle = { readonly title: string } | { readonly fault: string };

const LONGEST = 64;
const oddInTitles = unicodePattern(String.raw`[^\p{L}\p{M}\p{N}\-_.]`, "gu");
const DEVICES = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\.|$)/i;

/**
 * The title under which a plan is kept: what the model gave, else its first heading, else its file's own name, else `plan`.
 * It becomes a file's name, so it holds letters, digits, `-`, `_` and `.` only.
 */
export function planTitle(given: unknown, plan: string, stem: string | undefined): PlanTitle {
  if (typeof given === "string" && /[/\\\0]/.test(given)) return { fault: "title must not contain path separators" };
  for (const source of [typeof given === "string" ? given : undefined, firstHeading(plan), stem]) {
    const title = source === undefined ? "" : clean(source);
    if (title !== "") return { title: DEVICES.test(title) ? `${title}-plan` : title };
  }
  return { title: "plan" };
}

function clean(source: string): string {
  const words = source.trim().replace(/\.md$/i, "").replace(/\s+/gu, "-").replace(oddInTitles(), "").replace(/-+/g, "-");
  return trimEnds([...trimEnds(words)].slice(0, LONGEST).join(""));
}

function trimEnds(text: string): string {
  return text.replace(/^[.-]+|[.-]+$/g, "");
}

/** The first level-1 heading outside of code fences. */
function firstHeading(plan: string): string | undefined {
  let fence: string | undefined;
  for (const line of plan.split(/\r?\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else {
      const heading = /^ {0,3}#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(line)?.[1];
      if (heading !== undefined) return heading;
    }
  }
  return undefined;
}

/** The program that stands between a process and the disk, with arguments that follow threads and stay out of the way of other calls. */
export const STRACE: readonly string[] = ["strace", "-f", "--seccomp-bpf", "-qq"];

/** The calls of a trace, one per line, those that were interrupted by another thread put together again. */
export function tracedCalls(text: string): readonly string[] {
  const begun = new Map<string, string>();
  const calls: string[] = [];
  for (const line of text.split("\n")) {
    const [, pid = "", rest = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const half = /^(.*?) *<unfinished \.\.\.>$/.exec(rest)?.[1];
    const other = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    if (half !== undefined) begun.set(pid, half);
    else if (other !== undefined) calls.push(`${begun.get(pid) ?? ""}${other}`);
    else if (rest !== "") calls.push(rest);
  }
  return calls;
}

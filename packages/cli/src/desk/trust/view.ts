import type { Ledger } from "@assent/core";
import { unifiedDiff } from "@assent/core/parts";
import { diffConfiguration, listActivations, type TrustState } from "@assent/policy";
import { markGaps, oneLine, visible } from "../../io/visible-text.ts";
import { whenText, whoText } from "../../io/who.ts";

export async function trustLines(ledger: Ledger, state: TrustState): Promise<readonly string[]> {
  const { configuration, trusted } = state;
  const lines = listActivations(configuration);
  return [
    trustStateLine(state),
    ...configuration.problems.map((problem) => `cannot be trusted: ${oneLine(problem)}`),
    lines.length === 0 ? "Nothing in it configures Assent." : `${trusted ? "Active" : "Would become active"}:`,
    ...lines.map((line) => `  ${markGaps(oneLine(line))}`),
    ...(await changeLines(ledger, state)),
  ];
}

function trustStateLine({ configuration: { workspace }, record, trusted }: TrustState): string {
  const dir = oneLine(workspace);
  if (!record) return `${dir} is not trusted.`;
  const given = `by ${oneLine(whoText(record.by))} at ${whenText(record.at)}`;
  return trusted ? `${dir} is trusted, ${given}.` : `${dir} is not trusted any more: it changed since it was trusted ${given}.`;
}

async function changeLines(ledger: Ledger, { configuration, record, trusted }: TrustState): Promise<readonly string[]> {
  if (!record || trusted) return [];
  const changes = diffConfiguration(await ledger.resolve(record.files), configuration);
  if (changes.length === 0) return ["The files are the same, but it is another directory."];
  return ["Changed since then:", ...changes.flatMap(({ name, before, after }) => diffLines(name, before, after))];
}

function diffLines(name: string, before: string | null, after: string | null): readonly string[] {
  const diff = unifiedDiff({ name, before, after: after ?? "" });
  const shown = diff === "" ? `${oneLine(name)} is ${after === null ? "gone" : "new"}, and empty\n` : diff;
  return markGaps(visible(after === null ? shown.replace(/^\+\+\+ .*$/m, "+++ /dev/null") : shown))
    .replace(/\n$/, "")
    .split("\n");
}

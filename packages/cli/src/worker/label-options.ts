import type { Context } from "../command-line/spec.ts";
import { usageError } from "../io/failure.ts";

const LABEL = /^([A-Za-z0-9][A-Za-z0-9._/-]{0,62})=([^\s=]{0,63})$/;

export function readLabelOptions({ options }: Pick<Context, "options">, command: string): Readonly<Record<string, string>> {
  const labels = options.list("label").map((text) => {
    const [, key = "", value = ""] = LABEL.exec(text) ?? [];
    if (key === "") throw usageError(command, `option '--label' must be KEY=VALUE, like os=linux, not '${text}'.`);
    return [key, value] as const;
  });
  const twice = labels.find(([key], at) => labels.findIndex(([other]) => other === key) < at);
  if (twice) throw usageError(command, `option '--label' gives ${twice[0]} twice. Give each key one value.`);
  return Object.fromEntries(labels);
}

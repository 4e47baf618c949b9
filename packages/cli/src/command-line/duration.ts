const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `500ms`, `30s`, `10m`, `2h` or `30d`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = /^([0-9]{1,9})(ms|s|m|h|d)$/.exec(text);
  const unit = UNITS[match?.[2] ?? ""];
  return unit === undefined ? undefined : Number(match?.[1]) * unit;
}

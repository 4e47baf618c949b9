/** Characters that hide, reorder or imitate text. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** Shows invisible and direction-changing characters as escapes, so that a person sees what will run. Tabs and line ends stay. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (hidden) =>
    hidden === "\n" || hidden === "\t" ? hidden : `\\u{${(hidden.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** How long ago, in its largest unit. */
export function age(since: string, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1_000));
  const [size, name] = UNITS.find(([unit]) => seconds >= unit) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name}`;
}

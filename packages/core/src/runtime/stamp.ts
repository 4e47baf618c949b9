/** A time as ISO 8601, formatted once per millisecond. */
export function makeStamp(): (now: number) => string {
  let last = Number.NaN;
  let text = "";
  return (now) => {
    if (now !== last) {
      last = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}

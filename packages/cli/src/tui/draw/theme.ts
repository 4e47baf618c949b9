/** What a part of the screen means; how it looks is the theme's. */
export type Role =
  | "title"
  | "dim"
  | "italic"
  | "bold"
  | "accent"
  | "success"
  | "warning"
  | "error"
  | "added"
  | "removed"
  | "addedWord"
  | "removedWord"
  | "badge"
  | "selected"
  | "person"
  | "notice"
  | "border"
  | "keyword"
  | "string"
  | "comment"
  | "number";

/** Makes text look like its role. Without colour the words stay the same. */
export type Theme = Readonly<Record<Role, (text: string) => string>>;

type Code = readonly [on: string, off: string];

const attribute = (on: number, off: number): Code => [`${on}`, `${off}`];
const colour = (index: number): Code => [`38;5;${index}`, "39"];
const ground = (index: number): Code => [`48;5;${index}`, "49"];

const SHARED: Pick<Record<Role, readonly Code[]>, "title" | "dim" | "italic" | "bold" | "selected"> = {
  title: [attribute(1, 22)],
  dim: [attribute(2, 22)],
  italic: [attribute(3, 23)],
  bold: [attribute(1, 22)],
  selected: [attribute(7, 27)],
};

/** Colours of the 256 that every terminal of today has; chosen to be read on its ground. */
const PALETTES: Readonly<Record<"dark" | "light", Readonly<Record<Role, readonly Code[]>>>> = {
  dark: {
    ...SHARED,
    accent: [colour(75)],
    success: [colour(114)],
    warning: [colour(179)],
    error: [colour(203)],
    added: [colour(114)],
    removed: [colour(203)],
    addedWord: [ground(22)],
    removedWord: [ground(52)],
    badge: [colour(75)],
    person: [colour(183)],
    notice: [colour(109)],
    border: [colour(240)],
    keyword: [colour(176)],
    string: [colour(150)],
    comment: [colour(245)],
    number: [colour(180)],
  },
  light: {
    ...SHARED,
    accent: [colour(25)],
    success: [colour(28)],
    warning: [colour(130)],
    error: [colour(160)],
    added: [colour(28)],
    removed: [colour(160)],
    addedWord: [ground(194)],
    removedWord: [ground(224)],
    badge: [colour(25)],
    person: [colour(90)],
    notice: [colour(30)],
    border: [colour(250)],
    keyword: [colour(90)],
    string: [colour(22)],
    comment: [colour(243)],
    number: [colour(94)],
  },
};

function painted(codes: readonly Code[]): (text: string) => string {
  const on = `\u001b[${codes.map(([code]) => code).join(";")}m`;
  const off = `\u001b[${codes.map(([, code]) => code).join(";")}m`;
  return (text) => (text === "" ? text : `${on}${text}${off}`);
}

const plain = (text: string): string => text;

/** The theme for this ground; `none` has no codes at all (NO_COLOR, plain mode). */
export function themeOf(name: "dark" | "light" | "none"): Theme {
  const roles = Object.entries(PALETTES[name === "light" ? "light" : "dark"]);
  // Parsing: every role is in every palette.
  return Object.freeze(Object.fromEntries(roles.map(([role, codes]) => [role, name === "none" ? plain : painted(codes)]))) as Theme;
}

/** A theme that can change while it is in use. */
export type LiveTheme = { readonly theme: Theme; readonly choose: (name: "dark" | "light" | "none") => void };

/** Begins with this theme. */
export function liveTheme(name: "dark" | "light" | "none"): LiveTheme {
  let current = themeOf(name);
  const roles = Object.keys(current).map((role) => {
    // Parsing: the keys of a theme are roles.
    const known = role as Role;
    return [role, (text: string): string => current[known](text)] as const;
  });
  return {
    // Parsing: every role is there.
    theme: Object.freeze(Object.fromEntries(roles)) as Theme,
    choose: (next) => {
      current = themeOf(next);
    },
  };
}

/** The theme that an environment asks for; undefined: the terminal may know better. */
export function themeFrom(env: Readonly<Record<string, string | undefined>>): "dark" | "light" | "none" | undefined {
  if (env["NO_COLOR"] !== undefined || env["TERM"] === "dumb") return "none";
  const ground = Number(env["COLORFGBG"]?.split(";").at(-1) ?? "");
  if (env["COLORFGBG"] === undefined || !Number.isInteger(ground)) return undefined;
  return ground === 7 || ground === 15 ? "light" : "dark";
}

/** The theme for a ground of this colour, each part from 0 to 255. */
export function themeOn({ r, g, b }: { readonly r: number; readonly g: number; readonly b: number }): "dark" | "light" {
  return 0.299 * r + 0.587 * g + 0.114 * b > 128 ? "light" : "dark";
}

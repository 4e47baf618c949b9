import { isIPv4, isIPv6 } from "node:net";

type Format = (text: string) => boolean;

const matches =
  (pattern: RegExp): Format =>
  (text) =>
    pattern.test(text);

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const HOSTNAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`, "i");
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DURATION = /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)$/;

/** The formats of JSON Schema that are checked. Each is linear in its text; every other name is an annotation. */
export const FORMATS: Readonly<Record<string, Format>> = {
  date: isDate,
  time: matches(TIME),
  "date-time": isDateTime,
  duration: matches(DURATION),
  email: isEmail,
  hostname: (text) => text.length <= 253 && HOSTNAME.test(text),
  ipv4: isIPv4,
  ipv6: (text) => isIPv6(text) && !text.includes("%"),
  "json-pointer": matches(/^(?:\/(?:[^~/]|~[01])*)*$/),
  "relative-json-pointer": matches(/^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/),
  regex: isRegularExpression,
  uri: (text) => isUriText(text) && URL.canParse(text),
  "uri-reference": (text) => isUriText(text) && URL.canParse(text, "http://base.test/"),
  uuid: matches(UUID),
};

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

function isDateTime(text: string): boolean {
  const [date = "", time = "", ...rest] = text.split(/[tT ]/);
  return rest.length === 0 && isDate(date) && TIME.test(time);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  if (at < 1 || local.length > 64 || !/^[\w!#$%&'*+/=?^`{|}~.-]+$/.test(local)) return false;
  return !local.startsWith(".") && !local.endsWith(".") && !local.includes("..") && HOSTNAME.test(text.slice(at + 1));
}

function isRegularExpression(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}

/** Only what a URI may hold: the parser itself would mend blanks and backslashes. */
function isUriText(text: string): boolean {
  return /^[\w\-.~:/?#[\]@!$&'()*+,;=%]*$/.test(text) && !/%(?![0-9a-f]{2})/i.test(text);
}

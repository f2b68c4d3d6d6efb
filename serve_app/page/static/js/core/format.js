/**
 * Values of results in the reader's locale; exact values for hovering, copying and sorting.
 */

/** @typedef {{name: string, type: string, heading?: string}} Column */
/** @typedef {"number"|"date"|"time"|"span"|"boolean"|"json"|"text"} Kind */

const NUMBER = /^(u?(tiny|small|medium|big|huge)?int(eger)?\d*|numeric|decimal|float\d*|real|double( precision)?|money|number|serial|bigserial)\b/i;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(\.\d+)?)?)(Z|[+-]\d{2}(?::?\d{2})?)?$/;
/** A duration of ISO 8601, as the service writes intervals. */
const SPAN = /^P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d+(?:\.\d+)?)S)?)?$/;
const SPAN_UNITS = [["year", 31_557_600], ["month", 2_592_000], ["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1]];
const NAMED_KEY = /(^|_|\s)(id|no|nr|num|number|code|key|year|yr|zip|plz|postcode|iban|phone)$/i;
/** A number that is a year as likely as an amount, such as that of an output called "y". */
const YEAR_LIKE = /^(19|20)\d\d$/;
/** A longer fraction is a quotient's: only so many of its digits are shown, with "…" for the others. */
const MOST_FRACTION_DIGITS = 12;
const SHOWN_FRACTION_DIGITS = 6;

/**
 * The kind of a column: by its type, else by its values (SQLite names few types).
 * @param {Column} column @param {unknown[]} values some of its values
 * @returns {Kind}
 */
export function readKind(column, values) {
  const type = (column.type ?? "").trim();
  if (NUMBER.test(type)) return "number";
  if (/^date$/i.test(type)) return "date";
  if (/^(timestamp|datetime)/i.test(type)) return "time";
  if (/^interval/i.test(type)) return "span";
  if (/^bool/i.test(type)) return "boolean";
  if (/^jsonb?$/i.test(type)) return "json";
  const known = values.filter((value) => value !== null && value !== undefined);
  if (!known.length) return "text";
  if (known.every((value) => typeof value === "number")) return "number";
  if (known.every((value) => typeof value === "boolean")) return "boolean";
  if (known.every((value) => typeof value === "string" && DATE.test(value))) return "date";
  if (known.every((value) => typeof value === "string" && MOMENT.test(value))) return "time";
  return "text";
}

/** Whether a number of this name is a name rather than an amount: no grouping, no sums. */
export function isNameLike(column) {
  return NAMED_KEY.test(writeWords(column.name));
}

/** The exact text of a value, as it is copied. */
export function exact(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function readFraction(value) {
  return /^-?\d+\.(\d+)$/.exec(String(value))?.[1] ?? "";
}

function buildNumberFormat(column, values) {
  const known = values.filter((value) => value !== null);
  if (isNameLike(column) || known.every((value) => YEAR_LIKE.test(value))) return (value) => String(value);
  const least = Math.min(SHOWN_FRACTION_DIGITS, Math.max(0, ...values.slice(0, 500).map((value) => readFraction(value).length)));
  const format = new Intl.NumberFormat(undefined, { minimumFractionDigits: least, maximumFractionDigits: MOST_FRACTION_DIGITS });
  return (value) => {
    const text = String(value);
    if (!/^-?\d+(\.\d+)?$/.test(text)) return text;
    const surplus = readFraction(text).length - SHOWN_FRACTION_DIGITS;
    // As text, of which no digit is lost.
    if (surplus <= MOST_FRACTION_DIGITS - SHOWN_FRACTION_DIGITS) return format.format(text);
    const start = text.slice(0, -surplus);
    return Number(start) === 0 ? text : `${format.format(start)}…`;
  };
}

const DATES = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });
const [TO_MINUTES, TO_SECONDS] = ["short", "medium"].map((timeStyle) => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle, timeZone: "UTC" }));
const MOMENTS = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Milliseconds of a date or time; without an offset it is read as it stands. NaN: it is none. */
export function readTime(value) {
  const text = String(value);
  if (DATE.test(text)) return Date.parse(`${text}T00:00:00Z`);
  if (!MOMENT.test(text)) return Number.NaN;
  const iso = text.replace(" ", "T").replace(/([+-]\d{2})$/, "$1:00");
  return Date.parse(/(Z|[+-]\d{2}:?\d{2})$/.test(iso) ? iso : `${iso}Z`);
}

function formatDate(value) {
  const time = readTime(value);
  return Number.isNaN(time) ? String(value) : DATES.format(time);
}

/** A time as it stands, in its own zone, which is named. */
function formatMoment(value) {
  const [, day, clock, fraction, zone] = MOMENT.exec(String(value)) ?? [];
  const time = day ? Date.parse(`${day}T${clock}Z`) : Number.NaN;
  if (Number.isNaN(time)) return String(value);
  const shown = fraction ? `${DATES.format(time)}, ${clock}` : (time % 60_000 ? TO_SECONDS : TO_MINUTES).format(time);
  if (!zone) return shown;
  return `${shown} UTC${/^(Z|[+-]00(:?00)?)$/.test(zone) ? "" : zone}`;
}

const readSpan = (value) => SPAN.exec(String(value))?.slice(1);

/** An interval in words: "P1Y2M3DT7.5S" → "1 year 2 months 3 days 7.5 seconds". */
function formatInterval(value) {
  const amounts = readSpan(value);
  if (!amounts) return exact(value);
  const words = SPAN_UNITS.map(([unit], at) => amounts[at] && `${amounts[at]} ${unit}${/^-?1$/.test(amounts[at]) ? "" : "s"}`);
  return words.filter(Boolean).join(" ") || exact(value);
}

/**
 * What writes the cells of a column: the kind, and a function of a value that is not null.
 * @returns {{kind: Kind, write: (value: unknown) => string, isAmount: boolean}}
 */
export function buildFormat(column, values) {
  const kind = readKind(column, values);
  const write = { number: buildNumberFormat(column, values), date: formatDate, time: formatMoment, span: formatInterval }[kind] ?? exact;
  return { kind, write, isAmount: kind === "number" && !isNameLike(column) };
}

/** The key by which a value is sorted: a number, or text; null sorts last. */
export function sortKey(kind, value) {
  if (value === null || value === undefined) return null;
  if (kind === "number") return Number(value);
  if (kind === "date" || kind === "time") return readTime(value);
  if (kind === "span") return readSpan(value)?.reduce((sum, amount, at) => sum + Number(amount ?? 0) * SPAN_UNITS[at][1], 0) ?? null;
  return kind === "boolean" ? Number(Boolean(value)) : exact(value);
}

const WHOLE = new Intl.NumberFormat();
export const formatNumber = (value) => WHOLE.format(value);

/** Milliseconds in words: "340 ms", "4.2 s", "2 min 5 s". */
export function formatMs(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 1000) return `${WHOLE.format(Math.max(0, Math.round(ms)))} ms`;
  if (ms < 60_000) return `${new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(ms / 1000)} s`;
  return formatElapsed(ms + 500);
}

/** Time that goes on, in whole seconds: "0 s", "42 s", "2 min 5 s". */
export function formatElapsed(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export const formatPercent = (share) => new Intl.NumberFormat(undefined, { style: "percent" }).format(share);

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
/** How long ago an ISO time is, in words; `now` for tests. */
export function formatAgo(iso, now = Date.now()) {
  const seconds = (Date.parse(iso) - now) / 1000;
  if (Number.isNaN(seconds)) return String(iso);
  const units = [["day", 86_400], ["hour", 3600], ["minute", 60]];
  if (Math.abs(seconds) > 14 * 86_400) return MOMENTS.format(Date.parse(iso));
  const unit = units.find(([, size]) => Math.abs(seconds) >= size);
  return unit ? RELATIVE.format(Math.round(seconds / unit[1]), unit[0]) : "just now";
}

export const formatTime = (iso) => (Number.isNaN(Date.parse(iso)) ? String(iso) : MOMENTS.format(Date.parse(iso)));

/** Seconds in words: "45 s", "12 min", "3 h". */
export function formatSpan(seconds) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}\p{M}_$]*$/u;

/** The names of columns as they are shown: the service's headings. @param {{name: string, heading?: string}[]} columns @returns {string[]} */
export const nameColumns = (columns) => columns.map(({ name, heading }) => heading || name);

/** An identifier in words: "total_revenue" → "total revenue", "netAmount" → "net amount"; any other text as it is. */
export function writeWords(name) {
  if (!IDENTIFIER.test(name)) return name;
  const words = name.replace(/([\p{Ll}\p{N}])(\p{Lu}\p{Ll})/gu, (_, end, start) => `${end} ${start.toLowerCase()}`).replace(/_+/g, " ").trim();
  return words || name;
}

/** Words with a capital letter at the beginning, as in a heading. */
export const startLarge = (words) => words.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());

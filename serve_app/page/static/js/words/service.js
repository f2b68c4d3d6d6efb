/** What the account and the status call the parts, states, outcomes and limits of the service. */

const PARTS = { index: "Index of tables, columns and values", engine: "Language model", "audit log": "Audit log" };
/** Everything else that is checked is a database, by its name. */
export const namePart = (name) => PARTS[name] ?? `Database ${name}`;

const PROCESSES = {
  ingress: "Web page and HTTP interface",
  engine: "Language model",
  retriever: "Finding tables and values",
  planner: "Planning joins",
  executor: "Checking and running queries",
  ranker: "Choosing among queries",
  repairer: "Repairing queries",
};
export const nameProcess = (name) => PROCESSES[name] ?? name;

const STATES = { HEALTHY: "works", UPDATING: "is being changed", UNHEALTHY: "has a problem", DEPLOYING: "is starting", UPSCALING: "is getting more copies", DOWNSCALING: "is getting fewer copies" };
export const nameState = (state) => STATES[state] ?? state.toLowerCase().replaceAll("_", " ");

const OUTCOMES = { answered: "Answered", clarify: "Asked back what was meant", refused: "Declined", failed: "No query worked" };
export const nameOutcome = (outcome) => OUTCOMES[outcome] ?? outcome;

const REASONS = {
  off_topic: "not about the data",
  small_talk: "a greeting or the like",
  read_only: "asked for a change of the data",
  not_permitted: "not permitted to the person",
  ambiguous: "can mean several things",
};
export const nameReason = (code) => REASONS[code] ?? code.replaceAll("_", " ");

/** name of a limit → what it counts, and what the count means where that is not plain */
export const LIMITS = {
  requests_per_minute: ["Requests per minute", "Questions, and other things that the page reads"],
  questions_at_once: ["Questions at the same time", ""],
  tokens_per_day: ["Work of the language model per day", "Counted in tokens: pieces of words that it reads and writes"],
  rows_per_day: ["Rows of answers per day", ""],
};

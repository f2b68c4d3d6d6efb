/** The stages of a question, in words for somebody who does not know the product. */

const STAGES = {
  wait: ["Waiting for a turn", "Waited for a turn"],
  rewrite: ["Reading the conversation", "Read the conversation"],
  retrieve: ["Finding the tables", "Found the tables"],
  gate: ["Checking that the data can answer this", "Checked that the data can answer this"],
  draft: ["Drafting a first query", "Drafted a first query"],
  plan: ["Matching words with columns and values", "Matched words with columns and values"],
  generate: ["Writing queries", "Wrote queries"],
  guard: ["Applying what you may see", "Applied what you may see"],
  assess: ["Checking the queries before they run", "Checked the queries before they ran"],
  vote: ["Running them and comparing results", "Ran them and compared results"],
  repair: ["Repairing queries that failed", "Repaired queries that failed"],
  derive: ["Trying variations", "Tried variations"],
  execute: ["Reading the rows", "Read the rows"],
  words: ["Putting the answer into words", "Put the answer into words"],
};

/** A stage in words: while it runs, or once it is done. */
export function nameStage(stage, isDone) {
  return STAGES[stage]?.[isDone ? 1 : 0] ?? stage;
}

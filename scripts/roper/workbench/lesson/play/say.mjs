// One sentence or two on what a move has done, from what `compare` has found.
import {shown} from "./results.mjs";

// Why, after a move of the whole sentence.
function reason({scores, output, matches, step, values}) {
  if (!matches && step) return "That is a full turn: every arrow is where it was before.";
  if (!matches) {
    return "No arrow has moved. Without positions, attention cannot tell “dog bites man” from “man bites dog”.";
  }
  if (scores) return "A wave that is added mixes the position with the content.";
  const same = "Query and keys turn by the same angle, so the angles between them stay.";
  if (!values) {
    return `${
      same} The values do not turn: the distance decides how much of a value arrives, but leaves no mark on it.`;
  }
  return output ?
    `${same} The values turn as well, and nothing turns their sum back.` :
    `${
      same} The values turn as well, but their sum, turned back by the position of the query, is the same output.`;
}

function ofWhole(found, by) {
  const scores = found.scores ?
    `Scores change, by up to ${shown(found.scores)}, although no distance has changed` :
    "No score changes";
  const output = !found.output ? "and the output stays" :
    found.turns                ? `but the output turns with the text, by ${by} × 30°` :
                                 `and the output changes by ${shown(found.output)}`;
  return `${scores}, ${output}. ${reason(found)}`;
}

const ARRIVALS = {
  asIs:
    "Each value arrives as it is: in the last picture, arrows change their length, not their direction.",
  withWave: "Each value arrives with the wave of its position, not of its distance.",
  byPosition: "Each value arrives turned by its position, not by its distance.",
  byDistance:
    "Each value arrives turned by its distance from the query, as the last picture shows.",
};

function ofGap(found) {
  if (!found.scores && !found.output) {
    return found.step ?
      "The word has moved by a full turn: every arrow is where it was before." :
      "The distances have changed, but no score and no output. Without positions, order is invisible.";
  }
  const change = `change by up to ${shown(found.scores)}`;
  const scores = found.arrival === "withWave" ? `The scores ${change}.` :
                                                `The scores follow the distances: they ${change}.`;
  return `${scores} ${ARRIVALS[found.arrival]}`;
}

// kind: "whole" or "gap"; by: how far the sentence has moved; isSeen: whether the query sees the
// word that was pulled away
export function say(kind, found, {by, isSeen}) {
  if (kind === "whole") return ofWhole(found, by);
  return isSeen ? ofGap(found) :
                  "The query does not see the words after it, so nothing changes when they move.";
}

export const moved = (start, before) =>
  `begins at position ${start}${start === before ? "" : `, before: ${before}`}`;

export const verdict = (change) => change ? `changed by ${shown(change)}` : "unchanged";

export const wordName = (word, place, {isQuery, isFirst}) =>
  `${word}, position ${place}${isQuery ? ", the query" : ""}. ` +
  `Arrow keys ${isFirst ? "move the sentence" : "pull it away"}; Enter makes it the query.`;

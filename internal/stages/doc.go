// Package stages tells where the time of a round trip goes: it puts what both ends saw
// of the same round trips together, divides each into stages that add up to it, and
// says in which of them two variants differ. It is pure.
//
// The way of a message has points (result.Point); a stage is the time from one to the
// next. Not every source knows of every point: where one is not known of a test, its
// two stages are one, which is named after both. Where one is missing of a single round
// trip that others have, the time around it is not attributed, a stage of its own. So
// whatever is known, the stages of each round trip add up to it exactly.
package stages

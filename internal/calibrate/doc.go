// Package calibrate says how far a path and its machines can be trusted: from
// trials in which nothing differed, it works out how often a comparison sees a
// difference all the same, what noise there is, and what could be seen through
// it. It is pure: trials go in, a report comes out.
package calibrate

// Package classify judges what an attempt left behind: evidence in, verdict out.
//
// Classify is a pure function: it does no I/O, reads no clock and keeps no state, so the same evidence always
// gets the same verdict, from both drivers and years later. It detects walls; it never helps to pass one.
package classify

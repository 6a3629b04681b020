// Package trace keeps what happened during an attempt: a flight recorder in memory, and an archive of it that
// the Playwright trace viewer opens, whichever driver the browser is driven by.
//
// Nothing reaches a disk before a Redactor has seen it.
package trace

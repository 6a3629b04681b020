// Package scheduler decides which exit an identity leaves by, when, and what a failure means.
//
// The life of an attempt is Lease, Observe once the exit's address is known (Discard if it is a wrong one), then
// Report, which answers a Decision. Report is the only call that moves anybody's health. Rules are pure functions
// of small values (one file a rule); Scheduler is the shell that holds the values, takes the lock and reads the
// clock. No call blocks: when nothing can be had now, the error says when asking again makes sense.
package scheduler

// Package harness runs jobs: it leases an exit, visits, judges, reports and settles, until every job has ended
// in exactly one terminal state.
package harness

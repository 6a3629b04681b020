package harness

import (
	"time"

	"github.com/limpet-dev/limpet/harness/report"
)

// resultOf is the job's line of results.jsonl.
func resultOf(e ending) report.Result {
	j, acc := e.task.job, e.task.account
	r := report.Result{
		Job: j.ID, Identity: string(j.Identity), Origin: j.Origin, State: e.state, Verdict: acc.verdict,
		Decision: e.decision, Attempts: acc.attempts, RouteChanges: acc.routeChanges, Records: len(e.records),
		BytesUp: acc.up, BytesDown: acc.down, Exits: acc.exits, Trace: report.Nullable(acc.trace),
		Error: report.Nullable(e.err), Reason: e.reason, Diagnosis: report.Nullable(e.diagnosis),
		Page: report.Nullable(e.title), EndedAt: time.Now().UTC(), Started: acc.started.UTC(),
	}
	if !acc.started.IsZero() {
		r.ElapsedMS = time.Since(acc.started).Milliseconds()
	}
	if r.Exits == nil {
		r.Exits = []string{}
	}
	return r
}

// recordsOf are the job's lines of records.jsonl.
func recordsOf(e ending) []report.Record {
	j := e.task.job
	out := make([]report.Record, 0, len(e.records))
	for _, rec := range e.records {
		out = append(out, report.Record{
			Job: j.ID, Identity: string(j.Identity), Origin: j.Origin, URL: e.finalURL, Record: rec,
			Attempt: e.task.account.attempts, At: time.Now().UTC(),
		})
	}
	return out
}

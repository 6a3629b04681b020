package harness

import (
	"context"
	"log/slog"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/report"
	"github.com/limpet-dev/limpet/harness/scheduler"
	"github.com/limpet-dev/limpet/identity"
)

// event writes a line of events.jsonl. A line that cannot be written is said in the log: the result of the job,
// written later to the same disk, is what stops the run.
func (r *Runner) event(ctx context.Context, e report.Event) {
	if e.At.IsZero() {
		e.At = time.Now().UTC()
	}
	if err := r.cfg.Folder.Event(e); err != nil {
		r.log.LogAttrs(ctx, slog.LevelError, "event not written", slog.String("error", err.Error()))
	}
}

// leased is the part of an event that a lease says.
func leased(t *task, l scheduler.Lease, kind report.EventKind) report.Event {
	return report.Event{
		Event: kind, Job: t.job.ID, Attempt: l.Attempt, Identity: l.Identity, Origin: l.Origin, Lease: l.ID,
		Exit: l.Exit.Key(), Provider: l.Exit.Provider, Segment: l.Segment.String(), RequestedCountry: l.Intent.Country,
	}
}

func (r *Runner) leaseEvent(ctx context.Context, t *task, l scheduler.Lease) {
	r.event(ctx, leased(t, l, report.EventLease))
}

// attemptEvents tells of the end of an attempt, of its report, and of a review that it began.
func (a *try) attemptEvents(ctx context.Context, v classify.Verdict, used gateway.Usage, seen gateway.Observation, out scheduler.Outcome, d scheduler.Decision) {
	e := leased(a.t, a.lease, report.EventAttempt)
	if seen.Addr != "" {
		e.Exit = seen.Addr
	}
	e.Verdict, e.ObservedCountry, e.Status = &v, seen.Country, v.Status
	e.BytesUp, e.BytesDown, e.DurationMS = used.Up, used.Down, time.Since(a.started).Milliseconds()
	a.r.event(ctx, e)

	e.Event, e.Decision, e.Reason = report.EventReport, string(d.Action), d.Reason
	e.Outcome = string(out.Domain)
	if out.OK {
		e.Outcome = "ok"
	}
	a.r.event(ctx, e)
	if d.Action == scheduler.Review {
		e.Event = report.EventReview
		a.r.event(ctx, e)
	}
}

// sessionEvent tells of a session's start or end. It is called by the broker.
func (r *Runner) sessionEvent(e identity.Event) {
	kind := report.EventSessionEnd
	if e.Start {
		kind = report.EventSessionStart
	}
	r.event(context.Background(), report.Event{ // the broker's events belong to no call
		Event: kind, At: e.At.UTC(), Identity: string(e.Identity), Exit: e.Exit, Reason: e.Reason,
		DurationMS: e.Age.Milliseconds(),
	})
}

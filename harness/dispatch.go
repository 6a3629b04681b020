package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/report"
)

// An ending is what became of one attempt: the job ends in a state, or goes on at a later time.
type ending struct {
	task      *task
	again     bool
	at        time.Time // again: not before
	state     report.State
	decision  string
	reason    string // of the decision
	diagnosis string
	err       string
	title     string // of the page
	records   []classify.Record
	finalURL  string
	stop      error // the whole run stops for this reason; nil if it goes on
}

// A dispatch is one run of the loop: it alone owns the queue, and every attempt's goroutine answers to it.
type dispatch struct {
	r       *Runner
	q       *queue
	endings chan ending
	running int
	stopped error // why nothing is admitted any more; nil while jobs are
	totals  Totals
}

func newDispatch(r *Runner, jobs []jobfile.Job) *dispatch {
	d := &dispatch{r: r, q: newQueue(), endings: make(chan ending)}
	done := r.cfg.Folder.Done()
	d.totals.Accepted = len(jobs)
	for i := range jobs {
		if earlier, ok := done[jobs[i].ID]; ok {
			d.count(earlier.State)
			continue
		}
		d.q.push(&task{job: &jobs[i], order: i})
	}
	return d
}

// run admits, waits and settles until nothing is left or the run is stopped.
func (d *dispatch) run(ctx context.Context) error {
	// Attempts outlive ctx by the grace, so that an interrupt does not throw away work that is nearly done.
	work, abandon := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abandon(nil)
	interrupted := ctx.Done()
	var grace <-chan time.Time

	for {
		due := d.admit(work)
		if d.running == 0 && (d.stopped != nil || due == nil) {
			break
		}
		select {
		case e := <-d.endings:
			d.running--
			d.settle(e)
		case <-due:
		case <-interrupted:
			interrupted = nil
			d.stopped = ErrInterrupted
			grace = time.After(d.r.cfg.Grace)
		case <-grace:
			abandon(ErrInterrupted)
		case <-d.r.cfg.Abort:
			d.stopped = ErrInterrupted
			abandon(ErrInterrupted)
			d.r.cfg.Abort = nil
		}
	}
	for _, t := range d.q.drain() {
		d.end(ending{task: t, state: report.Cancelled, decision: "cancel", err: d.stopped.Error()})
	}
	return d.stopped
}

// admit starts attempts while there is room, and answers a channel that fires when the next job falls due:
// nil if none will by itself.
func (d *dispatch) admit(work context.Context) <-chan time.Time {
	for d.stopped == nil && d.running < d.r.cfg.Concurrency {
		t, at := d.q.pop(time.Now())
		if t == nil {
			if at.IsZero() {
				return nil
			}
			return time.After(time.Until(at))
		}
		d.running++
		go func() { d.endings <- d.r.guarded(work, t) }()
	}
	return nil
}

// settle takes an attempt's ending: back into the queue, or to its terminal state.
func (d *dispatch) settle(e ending) {
	d.q.release(e.task.job.Identity)
	if e.stop != nil && d.stopped == nil {
		d.stopped = e.stop
	}
	if e.again {
		e.task.notBefore = e.at
		d.q.push(e.task)
		return
	}
	d.end(e)
}

// end writes the job's result. If that cannot be done the run stops: what is not written has not ended, and is
// done again when the run is resumed.
func (d *dispatch) end(e ending) {
	d.r.cfg.Scheduler.Forget(e.task.job.ID)
	result := resultOf(e)
	if err := d.r.cfg.Folder.Commit(result, recordsOf(e)...); err != nil {
		if d.stopped == nil || errors.Is(d.stopped, ErrInterrupted) {
			d.stopped = fmt.Errorf("result of %s: %w: %w", e.task.job.ID, err, ErrEngineLost)
		}
		result.State = report.Cancelled
	}
	d.count(result.State)
	d.r.cfg.Progress.JobDone(result)
}

func (d *dispatch) count(s report.State) {
	switch s {
	case report.Useful:
		d.totals.Useful++
	case report.Failed:
		d.totals.Failed++
	case report.Denied:
		d.totals.Denied++
	case report.Review:
		d.totals.Review++
	default:
		d.totals.Cancelled++
	}
}

package harness

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/trace"
)

const (
	gotoTimeout = 30 * time.Second // the default navigation timeout of both browser libraries
	stepTimeout = 10 * time.Second
	// patience is how long a step waits for its element before the page is looked at: a wall will never show
	// it, and ten seconds on a wall are ten seconds of a slot.
	patience  = time.Second
	settleCap = 10 * time.Second
	// lateQuiet is how long a page without its marker must hold still before it is believed: longer than a slow
	// answer to a script's request, shorter than a second visit.
	lateQuiet     = 1500 * time.Millisecond
	shotTimeout   = 5 * time.Second
	snapshotGrace = 5 * time.Second // for reading a page whose visit has used up its time
)

// errStopped ends a visit early although nothing failed: the page is a wall, an error or out of scope.
var errStopped = errors.New("visit stopped")

// A visit takes a job's steps on one page. It gathers what it saw and judges nothing but whether going on
// makes sense.
type visit struct {
	job     *jobfile.Job
	page    drivers.Page
	rec     *trace.Recorder
	look    func(saw) classify.Verdict                     // judges a page in passing; changes nothing
	may     func(ctx context.Context, address string) bool // whether robots.txt lets it be fetched; nil: not asked
	waitOut time.Duration                                  // how long an interstitial may take to pass by itself
	saw     saw
	verdict classify.Verdict // of the last look
}

// saw is what a visit saw.
type saw struct {
	requested string // by the last goto
	response  *drivers.Response
	snapshot  *drivers.Snapshot
	err       error // the driver's error that ended the visit; nil if the steps ended it
	step      *classify.StepFailure
	extracted []classify.Record
	effect    bool          // a side effect had begun
	denied    string        // by robots.txt: why; nothing was fetched
	offScope  string        // the host that the visit was led to outside the job's scope
	resolved  time.Duration // how long an interstitial took to pass by itself; zero if there was none
}

// arrived reports whether the page shows a document of this visit. Before that it shows an earlier job's, or none.
func (s saw) arrived() bool { return s.denied == "" && s.response != nil }

// run takes the steps and reads the page that they end on.
func (v *visit) run(ctx context.Context) saw {
	err := v.steps(ctx)
	if err == nil {
		err = v.rest(ctx)
	}
	if err != nil && !errors.Is(err, errStopped) && v.saw.step == nil {
		v.saw.err = err
	}
	if v.saw.err == nil {
		v.saw.response = v.page.Response() // else what Goto answered: a warm page still holds the one before
	}
	if v.saw.snapshot == nil && v.saw.arrived() {
		v.read(ctx)
	}
	return v.saw
}

func (v *visit) steps(ctx context.Context) error {
	for i, st := range v.job.Steps {
		id := v.rec.Begin(string(st.Verb), describe(st))
		err := v.step(ctx, st)
		v.rec.End(id, err)
		if err == nil {
			err = v.inScope()
		}
		if err == nil {
			continue
		}
		if ownFault(st, err) {
			v.saw.step = &classify.StepFailure{
				Index: i, Name: string(st.Verb), Selector: st.Selector, Message: fmt.Sprintf("%s: %s: %v", st.Pos, st.Verb, err),
			}
		}
		return err
	}
	return nil
}

// ownFault reports whether a failed step says something about the job rather than about the way to the page.
func ownFault(st jobfile.Step, err error) bool {
	switch drivers.KindOf(err) {
	case drivers.Element, drivers.Script, drivers.Unsupported:
		return true
	case drivers.Timeout:
		return st.Verb != jobfile.Goto
	default:
		return false
	}
}

// rest lets the page settle and reads it; an interstitial gets its time to pass, and a page that lacks what the job
// came for gets a second, longer look: a script may still be fetching it.
func (v *visit) rest(ctx context.Context) error {
	if err := v.settle(ctx, 0); err != nil {
		return err
	}
	if err := v.checkpoint(ctx); err != nil || !unready(v.verdict.Class) {
		return err
	}
	if err := v.settle(ctx, lateQuiet); err != nil {
		return err
	}
	return v.checkpoint(ctx)
}

// unready reports whether the class may be that of a page which is still filling.
func unready(c classify.Class) bool {
	return c == classify.Unhydrated || c == classify.Missing || c == classify.Empty
}

// settle waits until the page holds still for quiet; zero means the driver's default.
func (v *visit) settle(ctx context.Context, quiet time.Duration) error {
	_, err := v.page.Settle(ctx, drivers.SettleOptions{Marker: v.job.Expect.Marker, Quiet: quiet, Cap: settleCap})
	if drivers.KindOf(err) == drivers.Timeout {
		return nil // missing quiet is a note, never a failure
	}
	return err
}

// read takes the snapshot, also when the time of the visit is used up: a failed attempt needs its evidence most.
func (v *visit) read(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), snapshotGrace)
	defer cancel()
	if drivers.KindOf(v.saw.err).WorkerFault() {
		return // nobody is there to answer
	}
	if s, err := v.page.Snapshot(ctx, 0); err == nil {
		v.saw.snapshot = s
	}
}

// checkpoint reads the page and stops the visit when it is refused or failed: the next step could only wait
// for what will not come. An interstitial is waited out first.
func (v *visit) checkpoint(ctx context.Context) error {
	verdict, err := v.glance(ctx)
	if err != nil {
		return err
	}
	if verdict.Class == classify.Interstitial {
		if verdict, err = v.wait(ctx); err != nil {
			return err
		}
	}
	if verdict.Stage == classify.StageChallenge || verdict.Stage == classify.StageHTTP {
		return errStopped
	}
	return nil
}

func (v *visit) glance(ctx context.Context) (classify.Verdict, error) {
	s, err := v.page.Snapshot(ctx, 0)
	if err != nil {
		return classify.Verdict{}, err
	}
	v.saw.snapshot, v.saw.response = s, v.page.Response()
	v.verdict = v.look(v.saw)
	return v.verdict, nil
}

// wait looks at an interstitial again, at growing distances, until it is gone or its time is up. Nothing is
// done to make it pass.
func (v *visit) wait(ctx context.Context) (classify.Verdict, error) {
	started := time.Now()
	verdict := v.verdict
	for gap := 500 * time.Millisecond; time.Since(started) < v.waitOut; gap *= 2 {
		if err := pause(ctx, min(gap, v.waitOut-time.Since(started))); err != nil {
			return verdict, err
		}
		if err := v.settle(ctx, 0); err != nil {
			return verdict, err
		}
		var err error
		if verdict, err = v.glance(ctx); err != nil {
			return verdict, err
		}
		if verdict.Class != classify.Interstitial {
			v.saw.resolved = time.Since(started)
			return verdict, nil
		}
	}
	return verdict, nil
}

// pause waits for d or until ctx is done.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// inScope stops the visit when it has been led to a host that the job may not go to.
func (v *visit) inScope() error {
	u, err := url.Parse(v.page.URL())
	if blank := err != nil || u.Host == ""; blank { // about:blank and the like
		return nil
	}
	if allowed(v.job.Scope.Origins, u.Hostname()) {
		return nil
	}
	v.saw.offScope = u.Hostname()
	return errStopped
}

// allowed reports whether host is one of the origins or below one. Ports of loopback origins do not matter.
func allowed(origins []string, host string) bool {
	if len(origins) == 0 {
		return true
	}
	for _, o := range origins {
		if h, _, ok := strings.Cut(o, ":"); ok && !strings.HasPrefix(o, "[") {
			o = h
		}
		if host == o || strings.HasSuffix(host, "."+o) {
			return true
		}
	}
	return false
}

// describe names what a step is about, for the trace. A secret value is not in it.
func describe(st jobfile.Step) map[string]string {
	p := map[string]string{}
	set := func(k, v string) {
		if v != "" {
			p[k] = v
		}
	}
	set("url", st.URL)
	set("selector", st.Selector)
	set("key", st.Key)
	set("name", st.Name)
	set("values", strings.Join(st.Values, ", "))
	if st.Secret {
		set("value", "[secret]")
	} else {
		set("value", st.Value)
	}
	return p
}

package report

import (
	"io"
	"strings"
	"sync"
	"time"
)

const (
	firstMinute = time.Minute
	earlyBeat   = 10 * time.Second // within the first minute: people still watch
	beat        = 30 * time.Second
)

// Plain is the progress of a run as lines, for logs and screen readers: one when a job ends other than useful,
// and a heartbeat.
type Plain struct {
	w    io.Writer
	stop chan struct{}
	done chan struct{}
	once sync.Once

	mu    sync.Mutex // also held while writing: lines do not mix
	tally tally
}

// NewPlain begins to tell w of a run of total jobs. Errors of w are ignored: nobody is left to tell.
func NewPlain(w io.Writer, total int) *Plain {
	p := &Plain{w: w, stop: make(chan struct{}), done: make(chan struct{}), tally: newTally(total, time.Now())}
	go p.run()
	return p
}

// run beats until Close.
func (p *Plain) run() {
	defer close(p.done)
	for {
		gap := beat
		if time.Since(p.tally.started) < firstMinute {
			gap = earlyBeat
		}
		timer := time.NewTimer(gap)
		select {
		case <-timer.C:
			p.mu.Lock()
			p.say(p.tally.line(time.Now()))
			p.mu.Unlock()
		case <-p.stop:
			timer.Stop()
			return
		}
	}
}

// JobDone counts the job, and tells of it if it is not useful.
func (p *Plain) JobDone(r Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tally.add(r)
	if r.State != Useful {
		p.say(doneLine(r))
	}
}

// Note writes a line.
func (p *Plain) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.say(text)
}

// Close ends the heartbeat.
func (p *Plain) Close() {
	p.once.Do(func() { close(p.stop) })
	<-p.done
}

// say writes a line. The caller holds mu.
func (p *Plain) say(text string) {
	_, _ = io.WriteString(p.w, visible(text)+"\n")
}

// doneLine is how a job ended, on one line.
func doneLine(r Result) string {
	parts := []string{string(r.State) + "  " + r.Job + ": " + verdictText(r)}
	if r.Attempts > 0 {
		parts = append(parts, "after "+count(r.Attempts, "attempt"))
	}
	if why := because(r); why != "" {
		parts = append(parts, "("+why+")")
	}
	if r.Trace != "" {
		parts = append(parts, string(r.Trace))
	}
	return strings.Join(parts, " ")
}

package report

import (
	"io"
	"sync"
	"time"
)

// redrawEvery bounds how often the live line changes: five times a second is as fast as people read.
const redrawEvery = 200 * time.Millisecond

// clearLine goes to the line's start and empties it, in any terminal that is not dumb.
const clearLine = "\r\x1b[K"

// Live is the progress of a run on a terminal: one status line that is redrawn, with lines of jobs that did not end
// well scrolling above it. Whether w is a terminal is the caller's business.
type Live struct {
	w     io.Writer
	width int
	stop  chan struct{}
	done  chan struct{}
	once  sync.Once

	mu    sync.Mutex // also held while writing: lines do not mix
	tally tally
}

// NewLive begins to show a run of total jobs on the terminal w, which is width columns wide; zero means 80.
func NewLive(w io.Writer, total, width int) *Live {
	if width <= 0 {
		width = 80
	}
	l := &Live{w: w, width: width, stop: make(chan struct{}), done: make(chan struct{}), tally: newTally(total, time.Now())}
	go l.run()
	return l
}

func (l *Live) run() {
	defer close(l.done)
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.mu.Lock()
			l.draw()
			l.mu.Unlock()
		case <-l.stop:
			return
		}
	}
}

// JobDone counts the job, and tells of it if it is not useful.
func (l *Live) JobDone(r Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally.add(r)
	if r.State != Useful {
		l.above(doneLine(r))
	}
}

// Note writes a line above the status line.
func (l *Live) Note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.above(text)
}

// Close takes the status line away.
func (l *Live) Close() {
	l.once.Do(func() {
		close(l.stop)
		<-l.done
		l.mu.Lock()
		defer l.mu.Unlock()
		_, _ = io.WriteString(l.w, clearLine)
	})
	<-l.done
}

// above writes a line that stays. The caller holds mu.
func (l *Live) above(text string) {
	_, _ = io.WriteString(l.w, clearLine+visible(text)+"\n")
	l.draw()
}

// draw writes the status line. One column is left free, so that no terminal wraps. The caller holds mu.
func (l *Live) draw() {
	_, _ = io.WriteString(l.w, clearLine+fit(l.tally.line(time.Now()), l.width-1))
}

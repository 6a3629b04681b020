package gateway

import (
	"sync"
	"sync/atomic"
	"time"
)

// The stages of a connection's life.
const (
	stageAccept        = "accept"
	stageParse         = "parse"
	stageGate          = "gate"
	stageDial          = "dial"
	stageConnectSent   = "connect_sent"
	stageConnectAnswer = "connect_answer"
	stageFirstUp       = "first_up"
	stageFirstDown     = "first_down"
	stageClose         = "close"
)

// A record collects the evidence of one connection while it runs. It is safe for concurrent use.
type record struct {
	up, down atomic.Int64

	mu    sync.Mutex
	conn  Connection
	taken bool // a snapshot with the fault has been handed out
}

func newRecord(target string, tunnel bool, accepted time.Time) *record {
	r := &record{conn: Connection{Target: target, Tunnel: tunnel, Started: accepted}}
	r.conn.Stages = append(make([]StageAt, 0, 9), StageAt{Name: stageAccept, At: accepted}) // 9 stages exist
	r.reach(stageParse)
	return r
}

// reach notes a stage.
func (r *record) reach(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn.Stages = append(r.conn.Stages, StageAt{Name: name, At: time.Now()})
}

// fail notes a fault. The first one stands: what follows are its consequences.
func (r *record) fail(f *fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn.Fault != "" {
		return
	}
	r.conn.Fault, r.conn.Detail, r.conn.Retry = f.class, f.detail, f.retry
	if f.status != 0 {
		r.conn.Status = f.status
	}
}

// note keeps a detail that is no fault.
func (r *record) note(detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn.Detail == "" {
		r.conn.Detail = detail
	}
}

// answered notes the provider's answer.
func (r *record) answered(status int, exit Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conn.Status, r.conn.Exit = status, exit
}

// snapshot is the evidence so far.
func (r *record) snapshot() Connection {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.conn
	c.Stages = append([]StageAt(nil), r.conn.Stages...)
	c.Up, c.Down = r.up.Load(), r.down.Load()
	return c
}

// take is snapshot for Take: evidence of a fault is handed out once.
func (r *record) take() (c Connection, fresh bool) {
	c = r.snapshot()
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh = !r.taken
	r.taken = r.taken || c.Fault != ""
	return c, fresh
}

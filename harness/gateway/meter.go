package gateway

import (
	"net"
	"sync"
	"time"
)

// A meter is the upstream leg of one connection. Every byte passes it and is counted at once, for the connection
// and for the port; when the port's budget is spent it cuts. It has no ReadFrom and no WriteTo, so that nothing
// moves bytes past the count.
type meter struct {
	conn *net.TCPConn
	rec  *record
	port *Port
	up   sync.Once // guards the first_up stage
	down sync.Once // guards the first_down stage
	// quiet holds back the first_up and first_down stages during the CONNECT exchange.
	quiet bool
}

// Read reads at most what the budget has left.
func (m *meter) Read(p []byte) (int, error) {
	left := m.port.left()
	if left <= 0 {
		return 0, errSpent
	}
	if int64(len(p)) > left {
		p = p[:left]
	}
	n, err := m.conn.Read(p)
	if n > 0 {
		if !m.quiet {
			m.down.Do(func() { m.rec.reach(stageFirstDown) })
		}
		m.rec.down.Add(int64(n))
		m.port.down.Add(int64(n))
		m.check()
	}
	return n, err
}

// Write refuses when the budget is spent; what it has begun it finishes. Bytes are counted before they leave: who
// sees their effect finds them in the count.
func (m *meter) Write(p []byte) (int, error) {
	if m.port.left() <= 0 {
		return 0, errSpent
	}
	if !m.quiet {
		m.up.Do(func() { m.rec.reach(stageFirstUp) })
	}
	m.rec.up.Add(int64(len(p)))
	m.port.up.Add(int64(len(p)))
	n, err := m.conn.Write(p)
	if unsent := int64(len(p) - n); unsent > 0 {
		m.rec.up.Add(-unsent)
		m.port.up.Add(-unsent)
	}
	m.check()
	return n, err
}

// check cuts everything once the last byte of the budget is carried.
func (m *meter) check() {
	if m.port.left() <= 0 {
		m.port.cutSpent()
	}
}

// deadline bounds both directions from now; zero lifts the bound. An error means that the connection is gone, and
// the next read says so.
func (m *meter) deadline(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = m.conn.SetDeadline(at)
}

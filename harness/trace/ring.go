package trace

// A ring keeps the newest entries that fit into a number of bytes. It is a pure state machine: its owner locks.
type ring struct {
	entries []entry // from head on; what is before head is gone
	head    int
	bytes   int
	max     int
	dropped int // entries dropped for want of room since the last reset
}

// push appends e and drops the oldest entries until what is left fits. An entry that alone is larger than the
// ring is dropped itself.
func (r *ring) push(e entry) {
	r.entries = append(r.entries, e)
	r.bytes += e.size
	for r.bytes > r.max {
		r.bytes -= r.entries[r.head].size
		r.entries[r.head] = entry{}
		r.head++
		r.dropped++
	}
	// Moving what is left once half of the slice is gone costs O(1) a push on average.
	if r.head > 64 && r.head > len(r.entries)/2 {
		n := copy(r.entries, r.entries[r.head:])
		clear(r.entries[n:])
		r.entries, r.head = r.entries[:n], 0
	}
}

// live is what the ring holds, oldest first.
func (r *ring) live() []entry { return r.entries[r.head:] }

func (r *ring) reset() {
	clear(r.entries)
	r.entries, r.head, r.bytes, r.dropped = r.entries[:0], 0, 0, 0
}

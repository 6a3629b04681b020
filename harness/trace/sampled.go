package trace

import (
	"hash/fnv"
	"math"
)

// Sampled reports whether the job is among the share (0 to 1) whose trace is kept although it went well. The
// same job always gets the same answer, on every machine.
func Sampled(jobID string, share float64) bool {
	if share >= 1 {
		return true
	}
	if share <= 0 || math.IsNaN(share) {
		return false
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(jobID)) // never fails
	return float64(mix(h.Sum64())) < share*math.MaxUint64
}

// mix is the finalizer of MurmurHash3: FNV alone hardly moves its high bits for ids that differ at the end.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

package scheduler

import (
	"fmt"
	"time"
)

// A bar is why a route cannot be taken now.
type bar struct {
	until   time.Time
	reason  string
	refused bool // it is for refusals: the exit is burned, or its domain held, at the origin
}

func (b *bar) wait() *WaitError {
	return &WaitError{Until: b.until, Reason: b.reason, Refused: b.refused}
}

// shut answers why the exit must not be shown to the origin: it is dead, or burned there, or its failure domain is
// held there. Nil if it may. A probe permit that lease has does not bar it.
func (s *Scheduler) shut(now time.Time, e ExitRef, seg Segment, originName, lease string) *bar {
	for _, key := range keys(e) {
		if b := s.exits[key]; b != nil {
			if until, ok := b.ready(now, lease); !ok {
				return &bar{until: until, reason: fmt.Sprintf("exit %s is dead", key)}
			}
		}
		if p := s.pairs[pairKey{key, originName}]; p != nil {
			if until, ok := p.ready(now, lease); !ok {
				return &bar{until: until, reason: fmt.Sprintf("exit %s is burned at %s", key, originName), refused: true}
			}
		}
	}
	o := s.origins[originName]
	if o == nil || len(o.domains) == 0 {
		return nil
	}
	for _, domain := range []string{seg.String(), failureDomain(e, seg)} {
		if h := o.domains[domain]; h != nil {
			if until, held := h.blocks(now); held {
				return &bar{until: until, reason: fmt.Sprintf("exits of %s are held at %s", domain, originName), refused: true}
			}
		}
	}
	return nil
}

// supply answers why the way to the exit is closed for now: a limit of the origin on this exit, its endpoint or its
// segment. Nil if it is open. These bars are waited for, never gone round with another session.
func (s *Scheduler) supply(now time.Time, e ExitRef, seg Segment, originName string) *bar {
	for _, key := range keys(e) {
		if p := s.pairs[pairKey{key, originName}]; p != nil {
			if until, wait := p.limit.blocks(now); wait {
				return &bar{until: until, reason: fmt.Sprintf("%s asked exit %s to wait", originName, key)}
			}
		}
	}
	if b := s.endpoints[e.Endpoint]; b != nil {
		if until, ok := b.ready(now, ""); !ok {
			return &bar{until: until, reason: fmt.Sprintf("endpoint %s is unreachable", e.Endpoint)}
		}
	}
	if b := s.segments[seg]; b != nil {
		if until, ok := b.ready(now, ""); !ok {
			return &bar{until: until, reason: fmt.Sprintf("supply of %s fails", seg)}
		}
	}
	return nil
}

// mint makes an epoch on the least loaded source whose way is open. If there is none it answers the bar that falls
// first. It starts anywhere, so ties fall evenly, and looks closely only at sources that would be a better choice than
// the best so far: with a thousand exits that is a handful.
func (s *Scheduler) mint(now time.Time, r Request, sources []*Source) (*epoch, *bar) {
	var first *bar
	var best *epoch
	start := s.cfg.Rand.IntN(len(sources))
	for i := range sources {
		src := sources[(start+i)%len(sources)]
		if best != nil && s.load[src] >= s.load[best.source] {
			continue
		}
		e := &epoch{identity: r.Identity, origin: r.Origin, intent: r.Intent, source: src, segment: src.segment(r.Intent)}
		e.exit = ExitRef{Source: src.Name, Provider: src.account(), Endpoint: s.endpoint(now, src)}
		if src.Fixed {
			e.exit.Addr = s.addrs[src.Name]
		}
		b := s.blocked(now, e)
		switch {
		case b == nil:
			best = e
		case first == nil || b.until.Before(first.until):
			first = b
		}
	}
	if best == nil {
		return nil, first
	}
	return best, nil
}

// blocked is shut, then supply, for an exit that nobody has met yet.
func (s *Scheduler) blocked(now time.Time, e *epoch) *bar {
	if b := s.shut(now, e.exit, e.segment, e.origin, ""); b != nil {
		return b
	}
	return s.supply(now, e.exit, e.segment, e.origin)
}

// endpoint is the one of the source's endpoints that has failed least of those that are open; the first if none is.
func (s *Scheduler) endpoint(now time.Time, src *Source) string {
	best, fails := "", -1
	for _, name := range src.Endpoints {
		n := 0
		if b := s.endpoints[name]; b != nil {
			if _, ok := b.ready(now, ""); !ok {
				continue
			}
			n = b.fails
		}
		if fails < 0 || n < fails {
			best, fails = name, n
		}
	}
	if fails < 0 && len(src.Endpoints) > 0 {
		return src.Endpoints[0]
	}
	return best
}

// sibling reports whether the source has an endpoint besides name that is not known to fail.
func (s *Scheduler) sibling(src *Source, name string) bool {
	for _, other := range src.Endpoints {
		if b := s.endpoints[other]; other != name && (b == nil || (!b.tripped() && b.fails == 0)) {
			return true
		}
	}
	return false
}

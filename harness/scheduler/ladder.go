package scheduler

import (
	"net/netip"
	"time"
)

// A ladder keeps what exits met lately at one origin, and says how far up a refusal reaches: the exit alone, its
// failure domain, or the whole origin. Exits that were useful meanwhile speak against the wider rungs: a domain or an
// origin is held only while more of its exits are refused than useful.
type ladder struct{ seen map[string]sighting }

// A sighting is the latest that one exit met.
type sighting struct {
	domain  string
	at      time.Time
	refused bool
}

// A rung is how far a refusal reaches.
type rung int

const (
	rungExit   rung = iota // the pair is burned
	rungDomain             // and its failure domain is held at the origin
	rungOrigin             // and so is the origin: the request pattern is at fault, not the pool
)

// maxSightings bounds the exits remembered for an origin. The ladder asks about a handful; the rest is margin.
const maxSightings = 256

// or fills what l leaves open.
func (l Ladder) or() Ladder {
	if l.Window == 0 {
		l.Window = 10 * time.Minute // the usual life of a session (facts/proxy.md, section 1.1)
	}
	if l.DomainExits == 0 {
		l.DomainExits = 2
	}
	if l.OriginDomains == 0 {
		l.OriginDomains = 3
	}
	if l.Hold == 0 {
		l.Hold = 15 * time.Minute // longer than Window, so that a hold does not end into the same evidence
	}
	return l
}

// useful notes that an exit served the origin well.
func (l *ladder) useful(now time.Time, exit, domain string, window time.Duration) {
	l.note(now, exit, sighting{domain: domain, at: now}, window)
}

// refuse notes a refusal and answers the rung that it reaches.
func (l *ladder) refuse(now time.Time, exit, domain string, p Ladder) rung {
	l.note(now, exit, sighting{domain: domain, at: now, refused: true}, p.Window)
	refused, useful := map[string]int{}, map[string]int{}
	refusedAll, usefulAll := 0, 0
	for key, s := range l.seen {
		switch {
		case s.old(now, p.Window):
			delete(l.seen, key)
		case s.refused:
			refused[s.domain]++
			refusedAll++
		default:
			useful[s.domain]++
			usefulAll++
		}
	}
	switch {
	case len(refused) >= p.OriginDomains && refusedAll > usefulAll:
		return rungOrigin
	case refused[domain] >= p.DomainExits && refused[domain] > useful[domain]:
		return rungDomain
	}
	return rungExit
}

func (l *ladder) note(now time.Time, exit string, s sighting, window time.Duration) {
	if l.seen == nil {
		l.seen = map[string]sighting{}
	}
	if _, known := l.seen[exit]; !known && len(l.seen) >= maxSightings {
		l.evict(now, window)
	}
	l.seen[exit] = s
}

// evict forgets the sightings that no longer count, or the oldest one if all do.
func (l *ladder) evict(now time.Time, window time.Duration) {
	oldest, at := "", time.Time{}
	for key, s := range l.seen {
		if s.old(now, window) {
			delete(l.seen, key)
			continue
		}
		if oldest == "" || s.at.Before(at) || (s.at.Equal(at) && key < oldest) {
			oldest, at = key, s.at
		}
	}
	if len(l.seen) >= maxSightings {
		delete(l.seen, oldest)
	}
}

// old reports whether the sighting no longer counts. One from the future comes from a clock that went back.
func (s sighting) old(now time.Time, window time.Duration) bool {
	age := now.Sub(s.at)
	return age > window || age < -window
}

// failureDomain is the narrowest unit known that an exit shares its fate with: the subnet of its address (/24, or /48
// in IPv6, what one customer is given), else its segment.
func failureDomain(e ExitRef, seg Segment) string {
	addr, err := netip.ParseAddr(e.Addr)
	if err != nil {
		return seg.String()
	}
	addr = addr.Unmap().WithZone("")
	bits := 24
	if addr.Is6() {
		bits = 48
	}
	p, err := addr.Prefix(bits)
	if err != nil {
		return seg.String()
	}
	return p.String()
}

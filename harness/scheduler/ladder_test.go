package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var standard = Ladder{}.or()

func TestLadderRungs(t *testing.T) {
	type step struct{ exit, domain string }
	for _, c := range []struct {
		name string
		up   []step
		want rung
	}{
		{"one exit", []step{{"a", "x"}}, rungExit},
		{"the same exit again", []step{{"a", "x"}, {"a", "x"}}, rungExit},
		{"two exits of two domains", []step{{"a", "x"}, {"b", "y"}}, rungExit},
		{"two exits of one domain", []step{{"a", "x"}, {"b", "x"}}, rungDomain},
		{"three exits of one domain", []step{{"a", "x"}, {"b", "x"}, {"c", "x"}}, rungDomain},
		{"three exits of three domains", []step{{"a", "x"}, {"b", "y"}, {"c", "z"}}, rungOrigin},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l ladder
			var got rung
			for i, s := range c.up {
				got = l.refuse(at(float64(i)), s.exit, s.domain, standard)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestUsefulExitsSpeakAgainstWiderRungs(t *testing.T) {
	var l ladder
	for i := range 3 {
		l.useful(noon, fmt.Sprintf("good-%d", i), "x", standard.Window)
	}
	require.Equal(t, rungExit, l.refuse(noon, "a", "x", standard))
	require.Equal(t, rungExit, l.refuse(noon, "b", "x", standard), "three of the subnet's exits are useful: two bad ones are not the subnet")
	require.Equal(t, rungDomain, l.refuse(noon, "good-0", "x", standard), "the latest that an exit met counts: three against two")
}

func TestRefusalsOutsideTheWindowAreForgotten(t *testing.T) {
	var l ladder
	l.refuse(noon, "a", "x", standard)
	require.Equal(t, rungExit, l.refuse(noon.Add(standard.Window+1), "b", "x", standard))
	require.Equal(t, rungExit, l.refuse(noon.Add(-time.Hour), "c", "x", standard), "the clock went back")
}

func TestLadderIsBounded(t *testing.T) {
	var l ladder
	for i := range 3 * maxSightings {
		l.useful(at(float64(i)/1000), fmt.Sprint(i), "x", standard.Window)
	}
	require.LessOrEqual(t, len(l.seen), maxSightings)
	_, latest := l.seen[fmt.Sprint(3*maxSightings-1)]
	require.True(t, latest)
}

func TestFailureDomainIsTheNarrowestKnown(t *testing.T) {
	seg := Segment{Provider: "p", Country: "DE", Class: "default", Protocol: "http"}
	for addr, want := range map[string]string{
		"":                      "p/DE/default/http",
		"not an address":        "p/DE/default/http",
		"203.0.113.9":           "203.0.113.0/24",
		"::ffff:203.0.113.9":    "203.0.113.0/24",
		"2001:db8:1:2::3":       "2001:db8:1::/48",
		"fe80:0:1:2::3%eth0":    "fe80:0:1::/48",
		"127.0.1.4":             "127.0.1.0/24",
		"203.0.113.9:8080":      "p/DE/default/http",
		"2001:db8:1:2::3/64":    "p/DE/default/http",
		" 203.0.113.9 and more": "p/DE/default/http",
	} {
		require.Equal(t, want, failureDomain(ExitRef{Addr: addr}, seg), addr)
	}
}

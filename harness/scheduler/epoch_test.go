package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEpochLivesUntilItsEarliestEnd(t *testing.T) {
	src := &Source{IdleLimit: time.Minute}
	for name, c := range map[string]struct {
		e     epoch
		now   time.Time
		need  time.Duration
		alive bool
	}{
		"young":                  {epoch{born: noon, used: noon, ends: at(600)}, at(10), 0, true},
		"retired":                {epoch{born: noon, used: noon, ends: at(600), retired: true}, at(10), 0, false},
		"over":                   {epoch{born: noon, used: at(599), ends: at(600)}, at(600), 0, false},
		"too little left":        {epoch{born: noon, used: at(500), ends: at(600)}, at(511), 90 * time.Second, false},
		"idle":                   {epoch{born: noon, used: noon, ends: at(600)}, at(55), 0, false},
		"idle, but leased":       {epoch{born: noon, used: noon, ends: at(600), leased: true}, at(300), 0, true},
		"endless":                {epoch{born: noon, used: at(1e6)}, at(1e6), time.Hour, true},
		"born in the future":     {epoch{born: at(3600), used: at(3600), ends: at(4200)}, noon, 0, false},
		"need is no idle margin": {epoch{born: noon, used: noon, ends: at(600)}, at(54), 90 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.e.source = src
			require.Equal(t, c.alive, c.e.alive(c.now, c.need))
		})
	}
}

func TestLifetimeIsTheShorterOfWindowAndLimit(t *testing.T) {
	for _, c := range []struct {
		in   Intent
		ttl  time.Duration
		want time.Duration
	}{
		{Intent{Mode: Windowed}, 0, 10 * time.Minute},
		{Intent{Mode: Windowed}, 10 * time.Minute, 9 * time.Minute},
		{Intent{Mode: Windowed, Window: time.Hour}, 10 * time.Minute, 9 * time.Minute},
		{Intent{Mode: Windowed, Window: time.Minute}, 10 * time.Minute, time.Minute},
		{Intent{Mode: Rotate}, 0, 10 * time.Minute},
		{Intent{Mode: Static, Window: time.Minute}, 0, 0},
		{Intent{Mode: Static}, time.Hour, 54 * time.Minute},
	} {
		require.Equal(t, c.want, lifetime(c.in, &Source{MaxTTL: c.ttl}), "%+v", c)
	}
}

package main

import (
	"context"
	"time"

	"github.com/limpet-dev/limpet/drivers"
)

// shopPID is the process that serves the pages, whose time counts for no arm. It is set once, before any arm runs.
var shopPID int

// A meter measures one arm. The browser's processes are read just before they end: what a killed process used is
// told to nobody afterwards.
type meter struct {
	began   time.Time
	before  time.Duration
	browser time.Duration // of browsers that have been closed
}

func startMeter() *meter {
	used, _ := ownCPU()
	return &meter{began: time.Now(), before: used}
}

func (m *meter) stop() (cpu, wall time.Duration, err error) {
	used, err := ownCPU()
	return used - m.before + m.browser, time.Since(m.began), err
}

// meteredDriver reads the CPU time of a browser before it is closed.
type meteredDriver struct {
	drivers.Driver

	meter *meter
}

// Launch starts a browser whose Close is metered.
func (d meteredDriver) Launch(ctx context.Context, o drivers.LaunchOptions) (drivers.Browser, error) {
	b, err := d.Driver.Launch(ctx, o)
	if err != nil {
		return nil, err
	}
	return meteredBrowser{Browser: b, meter: d.meter}, nil
}

type meteredBrowser struct {
	drivers.Browser

	meter *meter
}

// Close notes what all processes below this one have used, then closes the browser.
func (b meteredBrowser) Close(ctx context.Context) error {
	used, err := childrenCPU()
	if err != nil {
		return err
	}
	b.meter.browser += used
	return b.Browser.Close(ctx)
}

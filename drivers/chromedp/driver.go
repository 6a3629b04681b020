// Package chromedp drives Chromium over the DevTools protocol, on a pipe and without any process beside the
// browser.
//
// Of the library it uses the connection, the launch and the bookkeeping of tabs; what the library enables in each
// tab beyond what this driver reads is switched off again, because every event costs both sides time.
package chromedp

import (
	"context"
	"log/slog"

	"github.com/limpet-dev/limpet/drivers"
)

// Name is the stable name of this driver.
const Name = "chromedp"

// A Driver starts browsers. It is safe for concurrent use.
type Driver struct{}

var _ drivers.Driver = (*Driver)(nil)

// New makes a Driver.
func New() *Driver { return &Driver{} }

// Name is "chromedp".
func (d *Driver) Name() string { return Name }

// Launch starts a browser.
func (d *Driver) Launch(ctx context.Context, o drivers.LaunchOptions) (drivers.Browser, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	exe, err := drivers.FindExecutable(o.Executable)
	if err != nil {
		return nil, err
	}
	return launch(ctx, exe, o)
}

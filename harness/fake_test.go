package harness_test

import (
	"context"
	"errors"
	"sync"

	"github.com/limpet-dev/limpet/drivers"
)

// fakeDriver is a browser whose pages are functions of their address. It crashes, fails and panics on request,
// and counts what is open.
type fakeDriver struct {
	// visit answers a navigation.
	visit func(url string) (*drivers.Response, string, error)

	mu       sync.Mutex
	launches int
	failing  int // launches that fail before one succeeds; negative: all
	contexts int // open now
	browsers []*fakeBrowser
}

func (d *fakeDriver) Name() string { return "fake" }

func (d *fakeDriver) Launch(context.Context, drivers.LaunchOptions) (drivers.Browser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.launches++
	if d.failing != 0 {
		d.failing--
		return nil, &drivers.Error{Kind: drivers.LaunchFailed, Op: "launch", Err: errors.New("no such browser")}
	}
	b := &fakeBrowser{d: d, done: make(chan struct{})}
	d.browsers = append(d.browsers, b)
	return b, nil
}

// kill ends the running browser as kill -9 would.
func (d *fakeDriver) kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.browsers[len(d.browsers)-1].end()
}

type fakeBrowser struct {
	d    *fakeDriver
	done chan struct{}
	once sync.Once
}

func (b *fakeBrowser) end()                        { b.once.Do(func() { close(b.done) }) }
func (b *fakeBrowser) Version() string             { return "Fake/1" }
func (b *fakeBrowser) PID() int                    { return 0 }
func (b *fakeBrowser) Done() <-chan struct{}       { return b.done }
func (b *fakeBrowser) Err() error                  { return nil }
func (b *fakeBrowser) Close(context.Context) error { b.end(); return nil }

func (b *fakeBrowser) NewContext(_ context.Context, o drivers.ContextOptions) (drivers.Context, error) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.d.contexts++
	return &fakeContext{b: b}, nil
}

type fakeContext struct {
	drivers.Context

	b    *fakeBrowser
	once sync.Once
}

func (c *fakeContext) NewPage(context.Context) (drivers.Page, error) {
	return &fakePage{d: c.b.d}, nil
}

func (c *fakeContext) State(context.Context, ...string) (*drivers.StorageState, error) {
	return &drivers.StorageState{}, nil
}

func (c *fakeContext) Close(context.Context) error {
	c.once.Do(func() {
		c.b.d.mu.Lock()
		defer c.b.d.mu.Unlock()
		c.b.d.contexts--
	})
	return nil
}

type fakePage struct {
	drivers.Page

	d    *fakeDriver
	resp *drivers.Response
	html string
}

func (p *fakePage) Goto(ctx context.Context, url string) (*drivers.Response, error) {
	resp, html, err := p.d.visit(url)
	if err != nil {
		return resp, err
	}
	if ctx.Err() != nil {
		return nil, &drivers.Error{Kind: drivers.Cancelled, Op: "goto", Err: context.Cause(ctx)}
	}
	p.resp, p.html = resp, html
	return resp, nil
}

func (p *fakePage) Settle(context.Context, drivers.SettleOptions) (drivers.Settled, error) {
	return drivers.SettledQuiet, nil
}

func (p *fakePage) Snapshot(context.Context, int) (*drivers.Snapshot, error) {
	return &drivers.Snapshot{URL: p.resp.URL, HTML: p.html, VisibleText: p.html, VisibleLen: len(p.html)}, nil
}

func (p *fakePage) URL() string {
	if p.resp == nil {
		return "about:blank"
	}
	return p.resp.URL
}
func (p *fakePage) Response() *drivers.Response { return p.resp }
func (p *fakePage) Screenshot(context.Context, bool) ([]byte, error) {
	return nil, errors.New("a fake has no face")
}
func (p *fakePage) Close(context.Context) error { return nil }

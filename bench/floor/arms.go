package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/sync/errgroup"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness"
	"github.com/limpet-dev/limpet/harness/config"
	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/provider"
)

func loopback() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }

// loop is what a good engineer writes in an afternoon: a fresh context for each job, a page, the marker, two fields,
// a line. Its way out is one forwarder for all, because a context of the driver has no other.
func loop(ctx context.Context, s setting, d drivers.Driver) (int, error) {
	gw := gateway.New(gateway.Config{AllowPrivate: loopback()})
	defer gw.Close()
	port, err := gw.Open(ctx, gateway.Grant{Route: provider.Route{Kind: provider.Direct}})
	if err != nil {
		return 0, err
	}
	b, err := d.Launch(ctx, drivers.LaunchOptions{})
	if err != nil {
		return 0, err
	}
	var records atomic.Int64
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(s.concurrency)
	for i := range s.jobs {
		g.Go(func() error {
			if err := visit(gctx, b, port.Addr(), address(s, i)); err != nil {
				return err
			}
			records.Add(1)
			return nil
		})
	}
	err = errors.Join(g.Wait(), b.Close(ctx))
	return int(records.Load()), err
}

func visit(ctx context.Context, b drivers.Browser, proxy, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	bc, err := b.NewContext(ctx, drivers.ContextOptions{Proxy: proxy})
	if err != nil {
		return err
	}
	defer bc.Close(ctx)
	p, err := bc.NewPage(ctx)
	if err != nil {
		return err
	}
	if _, err := p.Goto(ctx, url); err != nil {
		return err
	}
	if err := p.WaitVisible(ctx, "#name"); err != nil {
		return err
	}
	var html string
	if err := p.Evaluate(ctx, "document.documentElement.outerHTML", &html); err != nil {
		return err
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		return err
	}
	if name, price := doc.Find("#name").Text(), doc.Find("#price").Text(); name == "" || price == "" {
		return fmt.Errorf("%s: no name or no price", url)
	}
	return nil
}

func address(s setting, i int) string { return fmt.Sprintf("http://%s/product/p-%d", s.shop, i) }

// warm is Limpet as it comes: a warm context for each identity.
func warm(ctx context.Context, s setting, d drivers.Driver) (int, error) {
	return limpet(ctx, s, d, "windowed")
}

// fresh is Limpet with a session for each job, and so a context, as the loop has it. It also has a port of its own each
// time, which the loop has not.
func fresh(ctx context.Context, s setting, d drivers.Driver) (int, error) {
	return limpet(ctx, s, d, "rotate")
}

func limpet(ctx context.Context, s setting, d drivers.Driver, mode string) (int, error) {
	dir, err := os.MkdirTemp("", "limpet-floor-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "jobs.yaml")
	if err := os.WriteFile(file, []byte(jobs(s, mode)), 0o600); err != nil {
		return 0, err
	}
	loaded, err := jobfile.Load(jobfile.Options{Files: []string{file}})
	if err != nil {
		return 0, err
	}
	cfg := config.Default()
	cfg.AllowPrivate = loopback()
	ex, err := harness.Execute(ctx, harness.Plan{
		Config: cfg, Driver: d, Jobs: loaded, Out: filepath.Join(dir, "out"), Concurrency: s.concurrency,
	}, func(harness.Totals, error) int { return 0 })
	if err != nil {
		return 0, err
	}
	return ex.Summary.Records, errors.Join(ex.Err, ex.Folder.Close())
}

// jobs is the job file that does what the loop does.
func jobs(s setting, mode string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\ndefaults: { intent: { mode: %s } }\njobs:\n", mode)
	for i := range s.jobs {
		fmt.Fprintf(&b, `  - id: p-%d
    identity: { key: identity-%d }
    steps: [{ goto: "%s" }]
    expect:
      marker: "#name"
      records: { each: main, fields: { name: "#name", price: "#price" } }
`, i, i%s.identities, address(s, i))
	}
	return b.String()
}

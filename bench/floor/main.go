// Command floor measures what Limpet adds to a browser: CPU and wall time per useful record, beside a hand-written
// loop over the same driver that makes a fresh context for each job. Three arms take turns in one run, so that what
// else the machine does falls on all of them alike; the ratios are what counts.
//
//	go run ./bench/floor -jobs 120 -rounds 3
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"time"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/chromedp"
	"github.com/limpet-dev/limpet/drivers/playwright"
	"github.com/limpet-dev/limpet/fixtures"
)

// The bounds of the project: CPU per useful record as a share of the loop's.
const (
	maxWarm  = 0.60
	maxFresh = 1.10
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

// A setting is what all arms share.
type setting struct {
	driver      string
	jobs        int
	identities  int
	concurrency int
	shop        string // host:port of the plain shop
}

// An arm works the jobs once and answers how many records it took.
type arm struct {
	name string
	work func(context.Context, setting, drivers.Driver) (records int, err error)
}

func run() error {
	var s setting
	rounds := flag.Int("rounds", 3, "times that every arm runs")
	serve := flag.Bool("serve", false, "be the shop for another process of this command, until standard input ends")
	check := flag.Bool("check", false, "exit 1 when a ratio is over its bound")
	flag.StringVar(&s.driver, "driver", "chromedp", "chromedp or playwright")
	flag.IntVar(&s.jobs, "jobs", 120, "jobs of one arm in one round")
	flag.IntVar(&s.identities, "identities", 6, "identities that the jobs belong to")
	flag.IntVar(&s.concurrency, "concurrency", 4, "jobs at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *serve {
		return serveShop(ctx)
	}
	shop, end, err := startShop(ctx)
	if err != nil {
		return err
	}
	defer end()
	s.shop = shop

	arms := []arm{{"loop, fresh context", loop}, {"limpet, warm", warm}, {"limpet, fresh context", fresh}}
	cpu := make([][]time.Duration, len(arms))
	wall := make([][]time.Duration, len(arms))
	for round := range *rounds + 1 { // the first warms the machine up and is not counted
		for i, a := range arms {
			c, w, err := measure(ctx, s, a)
			if err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
			if round > 0 {
				cpu[i], wall[i] = append(cpu[i], c), append(wall[i], w)
			}
		}
	}
	return report(s, arms, cpu, wall, *check)
}

// measure runs an arm and answers its CPU and wall time per record, its browser's start and end included.
func measure(ctx context.Context, s setting, a arm) (cpu, wall time.Duration, err error) {
	d, err := driver(s.driver)
	if err != nil {
		return 0, 0, err
	}
	meter := startMeter()
	records, err := a.work(ctx, s, meteredDriver{Driver: d, meter: meter})
	if err != nil {
		return 0, 0, err
	}
	if records != s.jobs {
		return 0, 0, fmt.Errorf("%d records of %d jobs: a faster wrong answer is none", records, s.jobs)
	}
	cpu, wall, err = meter.stop()
	return cpu / time.Duration(records), wall / time.Duration(records), err
}

func driver(name string) (drivers.Driver, error) {
	switch name {
	case "chromedp":
		return chromedp.New(), nil
	case "playwright":
		return playwright.New(playwright.Config{}), nil
	}
	return nil, fmt.Errorf("there is no driver %q", name)
}

func report(s setting, arms []arm, cpu, wall [][]time.Duration, check bool) error {
	fmt.Printf("%s, %d jobs of %d identities at concurrency %d, %d rounds, medians per useful record\n",
		s.driver, s.jobs, s.identities, s.concurrency, len(cpu[0]))
	fmt.Printf("%-24s %10s %10s %12s %12s\n", "", "CPU", "wall", "CPU ratio", "wall ratio")
	ratios := make([]float64, len(arms))
	for i, a := range arms {
		ratios[i] = ratio(cpu[i], cpu[0])
		fmt.Printf("%-24s %10s %10s %12.2f %12.2f\n", a.name, ms(median(cpu[i])), ms(median(wall[i])), ratios[i], ratio(wall[i], wall[0]))
	}
	fmt.Printf("bounds: warm at most %.2f, fresh at most %.2f of the loop's CPU\n", maxWarm, maxFresh)
	if check && (ratios[1] > maxWarm || ratios[2] > maxFresh) {
		return errors.New("a ratio is over its bound")
	}
	return nil
}

// ratio is the median of the rounds' own ratios.
func ratio(a, b []time.Duration) float64 {
	var rs []float64
	for i := range a {
		rs = append(rs, float64(a[i])/float64(b[i]))
	}
	slices.Sort(rs)
	return rs[len(rs)/2]
}

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return d[len(d)/2]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

// serveShop serves until standard input ends: the parent's end ends it too.
func serveShop(ctx context.Context) error {
	set, err := fixtures.Start(ctx, fixtures.Config{})
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(set.Config().ShopPlainAddr); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, set.Close())
}

// startShop starts the shop in a process of its own, so that its CPU time is nobody's.
func startShop(ctx context.Context) (addr string, end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-serve") //nolint:gosec // this program itself
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	shopPID = cmd.Process.Pid
	end = func() { _ = in.Close(); _ = cmd.Wait() }
	if err := json.NewDecoder(out).Decode(&addr); err != nil {
		end()
		return "", nil, fmt.Errorf("the shop did not start: %w", err)
	}
	return addr, end, nil
}

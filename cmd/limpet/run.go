package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/drivers/chromedp"
	"github.com/limpet-dev/limpet/drivers/playwright"
	"github.com/limpet-dev/limpet/harness"
	"github.com/limpet-dev/limpet/harness/config"
	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/report"
)

// driverNames are the drivers of this program; the first is the default.
var driverNames = []string{"chromedp", "playwright"}

// runFlags are those of commands that run jobs.
type runFlags struct {
	driver      string
	out         string
	concurrency string
	fresh       bool
}

func (f *runFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.driver, "driver", "", "`chromedp` or playwright (default: the configuration's, else chromedp)")
	cmd.Flags().StringVar(&f.out, "out", "out", "`folder` for what the run leaves; a run that was interrupted resumes in it")
	cmd.Flags().StringVar(&f.concurrency, "concurrency", "auto", "attempts at a time: a `number`, or auto")
	cmd.Flags().BoolVar(&f.fresh, "fresh", false, "start over: remove what an earlier run left in --out")
}

func (a *app) runCommand() *cobra.Command {
	var flags runFlags
	var selects []string
	var each, marker string
	cmd := &cobra.Command{
		Use:   "run FILE... | run URL --select name=css...",
		Short: "Runs the jobs of job files to the end on this machine",
		Long: "Runs every job to one of useful, failed, denied, review or cancelled, and leaves records, results, events,\n" +
			"traces and a report in --out. With a URL it takes one page by the direct exit and prints its records.",
		Example: "  limpet run jobs.yaml --out out/today\n  limpet run https://example.com --select title=h1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && isURL(args[0]) {
				return a.runURL(cmd.Context(), args[0], selects, jobfile.URLOptions{Each: each, Marker: marker}, flags)
			}
			if i := slices.IndexFunc(args, func(s string) bool { return strings.Contains(s, "://") }); i >= 0 {
				return &hintError{
					err:  fmt.Errorf("%s is no job file, and run takes one http or https address and nothing else, or job files", args[i]),
					hint: "limpet run https://example.com --select title=h1",
				}
			}
			if len(selects) > 0 {
				return &hintError{err: errors.New("--select goes with a URL"), hint: "limpet run https://example.com --select title=h1"}
			}
			return a.runFiles(cmd.Context(), args, flags)
		},
	}
	flags.register(cmd)
	cmd.Flags().StringArrayVar(&selects, "select", nil, "with a URL: `name=css` of a field, name=css@attr for an attribute; may be repeated")
	cmd.Flags().StringVar(&each, "each", "", "with a URL: `CSS` selector of one record's element (default: the page)")
	cmd.Flags().StringVar(&marker, "marker", "", "with a URL: `CSS` selector without which the page is not useful (default: the first field's)")
	return cmd
}

func (a *app) runFiles(ctx context.Context, files []string, flags runFlags) error {
	if len(files) == 0 {
		return &hintError{err: errors.New("no job file"), hint: "limpet run jobs.yaml, or limpet demo to see it work without one"}
	}
	cfg, err := a.loadConfig(ctx)
	if err != nil {
		return err
	}
	jobs, err := jobfile.Load(jobfile.Options{Files: files, Env: a.env})
	if err != nil {
		return err
	}
	return a.execute(ctx, cfg, jobs, files, flags)
}

// execute runs jobs and prints how they ended.
func (a *app) execute(ctx context.Context, cfg config.Config, jobs []jobfile.Job, files []string, flags runFlags) error {
	ex, err := a.start(ctx, cfg, jobs, files, flags)
	if err != nil {
		return err
	}
	defer ex.Folder.Close()
	return a.printExecution(ex)
}

// start runs jobs. The execution's folder is still open.
func (a *app) start(ctx context.Context, cfg config.Config, jobs []jobfile.Job, files []string, flags runFlags) (*harness.Execution, error) {
	plan, err := a.plan(cfg, jobs, files, flags)
	if err != nil {
		return nil, err
	}
	if flags.fresh {
		if err := report.Remove(flags.out); err != nil {
			return nil, &hintError{err: err, hint: "name another folder with --out"}
		}
	}
	ctx, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	abort := make(chan struct{})
	plan.Abort = abort
	stop := a.watchSignals(interrupt, abort)
	defer stop()

	ex, err := harness.Execute(ctx, plan, func(t harness.Totals, err error) int { return exitCode(ctx, t, err) })
	if err != nil {
		return nil, runHint(err)
	}
	a.code = exitCode(ctx, ex.Totals, ex.Err)
	return ex, nil
}

func (a *app) plan(cfg config.Config, jobs []jobfile.Job, files []string, flags runFlags) (harness.Plan, error) {
	name := flags.driver
	if name == "" {
		name = cfg.Browser.Driver
	}
	d, err := newDriver(name, cfg)
	if err != nil {
		return harness.Plan{}, err
	}
	n, err := concurrency(flags.concurrency)
	if err != nil {
		return harness.Plan{}, err
	}
	log := a.logger(nil)
	launch, err := launchOptions(cfg, log)
	if err != nil {
		return harness.Plan{}, err
	}
	return harness.Plan{
		Config: cfg, Driver: d, Launch: launch, Jobs: jobs, Files: files, Out: flags.out, Concurrency: n,
		Progress: a.progress, Logger: log,
	}, nil
}

// newDriver makes the named driver; empty means the default.
func newDriver(name string, cfg config.Config) (drivers.Driver, error) {
	switch name {
	case "", "chromedp":
		return chromedp.New(), nil
	case "playwright":
		return playwright.New(playwright.Config{DriverDir: cfg.Browser.Playwright}), nil
	default:
		return nil, &hintError{err: fmt.Errorf("there is no driver %q", name), hint: "--driver chromedp or --driver playwright"}
	}
}

func launchOptions(cfg config.Config, log *slog.Logger) (drivers.LaunchOptions, error) {
	spki, err := cfg.Browser.SPKI()
	if err != nil {
		return drivers.LaunchOptions{}, err
	}
	return drivers.LaunchOptions{
		Executable: cfg.Browser.Executable, Sandbox: cfg.Browser.Sandbox && os.Getuid() != 0, TrustSPKI: spki, Logger: log,
	}, nil
}

func concurrency(flag string) (int, error) {
	if flag == "auto" {
		return 0, nil
	}
	var n int
	if _, err := fmt.Sscanf(flag, "%d", &n); err != nil || n < 1 || n > 256 || fmt.Sprint(n) != flag {
		return 0, &hintError{err: fmt.Errorf("--concurrency %q is neither a number from 1 to 256 nor auto", flag), hint: "--concurrency 4, or leave it out"}
	}
	return n, nil
}

// watchSignals turns the first signal into an interrupt and the second into an abort. The answer ends the watching.
func (a *app) watchSignals(interrupt context.CancelCauseFunc, abort chan struct{}) func() {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		first := true
		for {
			select {
			case s := <-a.signals:
				if !first {
					close(abort)
					return
				}
				first = false
				fmt.Fprintln(a.errs, "limpet: stopping: running attempts may finish; press Ctrl-C again to abort them")
				interrupt(signalled{s})
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// signalled is why a run was interrupted.
type signalled struct{ os.Signal }

// Error names the signal.
func (s signalled) Error() string { return s.String() }

// exitCode is the table of contracts.md.
func exitCode(ctx context.Context, t harness.Totals, err error) int {
	switch {
	case errors.Is(err, harness.ErrInterrupted):
		if s, ok := errors.AsType[signalled](context.Cause(ctx)); ok && s.Signal == syscall.SIGTERM {
			return exitSIGTERM
		}
		return exitSIGINT
	case err != nil:
		return exitStopped
	case t.Failed > 0:
		return exitFailed
	case t.Review+t.Denied > 0:
		return exitReview
	case t.Cancelled > 0:
		return exitStopped
	default:
		return exitUseful
	}
}

// runHint says what to do about a run that could not begin.
func runHint(err error) error {
	hint := "name another folder with --out"
	if _, ok := errors.AsType[*report.OtherRunError](err); ok {
		hint = "--fresh removes it"
	}
	if _, ok := errors.AsType[*report.InUseError](err); ok {
		hint = ""
	}
	if _, ok := errors.AsType[*harness.StartError](err); ok {
		hint = "limpet doctor says what is wrong with this machine"
	}
	if errors.Is(err, fs.ErrPermission) {
		hint = "name a folder you may write to with --out"
	}
	return &hintError{err: err, hint: hint}
}

func (a *app) progress(jobs int) report.Progress {
	switch {
	case a.common.quiet:
		return report.NoProgress{}
	case a.terminal(a.errs):
		return report.NewLive(a.errs, jobs, a.width())
	default:
		return report.NewPlain(a.errs, jobs)
	}
}

func (a *app) width() int {
	if f, ok := a.errs.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil {
			return w
		}
	}
	return 100
}

// printExecution prints the table and the block, or the summary as JSON.
func (a *app) printExecution(ex *harness.Execution) error {
	if ex.Err != nil {
		fmt.Fprintf(a.errs, "limpet: error: %v\n", ex.Err)
		fmt.Fprintf(a.errs, "limpet: hint: %s\n", stopHint(ex.Err, ex.Folder.Dir()))
	}
	if a.common.json {
		return printFile(a.out, ex.Folder.Path("summary.json"))
	}
	if a.common.quiet {
		return nil
	}
	if err := report.Table(a.out, ex.Folder.Results(), report.TableOptions{Color: a.colour(a.out)}); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	return ex.Folder.Block(a.out, ex.Summary)
}

func stopHint(err error, dir string) string {
	again := fmt.Sprintf("the same command with --out %s goes on where it stopped", filepath.Clean(dir))
	switch {
	case errors.Is(err, harness.ErrCredential):
		return "put the credential or the account right; then " + again
	case errors.Is(err, harness.ErrEngineLost):
		return "limpet doctor says what is wrong with this machine; then " + again
	default:
		return again
	}
}

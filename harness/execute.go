package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness/config"
	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/report"
	"github.com/limpet-dev/limpet/harness/scheduler"
	"github.com/limpet-dev/limpet/harness/trace"
)

// A Plan is a run as a person asks for it.
type Plan struct {
	Config config.Config
	Driver drivers.Driver
	Launch drivers.LaunchOptions
	Jobs   []jobfile.Job
	Files  []string // where the jobs came from, for people
	Out    string   // the output folder
	// Concurrency overrides the configuration's. Zero leaves it.
	Concurrency int
	// Progress makes the watcher once it is known how many jobs there are. Nil means that nobody watches.
	Progress func(jobs int) report.Progress
	// Abort ends the grace after an interrupt at once when it is closed. Nil means that nobody will.
	Abort  <-chan struct{}
	Logger *slog.Logger
}

// An Execution is a run that is over.
type Execution struct {
	Totals  Totals
	Summary report.Summary
	Folder  *report.Folder // the caller closes it
	Err     error          // why the run did not reach its end; nil if it did
}

// Execute carries out a plan and leaves its output folder complete. The error is that of a run that could not begin:
// a *StartError, a *report.OtherRunError, a *report.InUseError, or a fault of the folder or the configuration. exit
// answers the exit code that goes into the summary.
func Execute(ctx context.Context, p Plan, exit func(Totals, error) int) (*Execution, error) {
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	redactor := trace.NewRedactor(p.secrets())
	folder, err := report.Open(p.Out, report.Run{Hash: p.hash(), Files: p.Files, Driver: p.Driver.Name()}, redactor.Text)
	if err != nil {
		return nil, err
	}
	ex, err := p.execute(ctx, folder, redactor)
	if err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	ex.Summary, err = folder.Finish(report.Facts{
		Run: folder.Run(), Accepted: ex.Totals.Accepted, ExitCode: exit(ex.Totals, ex.Err), Prices: p.prices(),
	})
	if err != nil {
		ex.Err = errors.Join(ex.Err, fmt.Errorf("%w: %w", err, ErrEngineLost))
	}
	return ex, nil
}

func (p Plan) execute(ctx context.Context, folder *report.Folder, redactor *trace.Redactor) (*Execution, error) {
	cfg := p.Config
	routes, err := RoutesOf(cfg)
	if err != nil {
		return nil, err
	}
	sched, err := scheduler.New(scheduler.Config{Sources: routes.Sources(), Origins: paces(cfg)})
	if err != nil {
		return nil, err
	}
	judge, err := classify.New(classify.Options{})
	if err != nil {
		return nil, err
	}
	roots, err := cfg.Browser.Roots()
	if err != nil {
		return nil, err
	}
	gw := gateway.New(gateway.Config{AllowPrivate: cfg.AllowPrivate, Logger: p.Logger})
	defer gw.Close()

	var progress report.Progress = report.NoProgress{}
	if p.Progress != nil {
		progress = p.Progress(len(p.Jobs))
	}
	defer progress.Close()
	concurrency := p.Concurrency
	if concurrency == 0 {
		concurrency = cfg.Browser.Concurrency
	}
	r, err := New(Config{
		Driver: p.Driver, Launch: p.Launch, Routes: routes, Scheduler: sched, Gateway: gw, Classifier: judge,
		Folder: folder, Redactor: redactor, Progress: progress, Robots: NewRobots(roots), Concurrency: concurrency,
		MaxJobs: cfg.Browser.Recycle.Jobs, MaxAge: cfg.Browser.Recycle.Age, InterstitialWait: cfg.Classify.InterstitialWait,
		Abort: p.Abort, Logger: p.Logger,
	})
	if err != nil {
		return nil, err
	}
	totals, err := r.Run(ctx, p.Jobs)
	if _, ok := errors.AsType[*StartError](err); ok {
		return nil, err
	}
	return &Execution{Totals: totals, Folder: folder, Err: err}, nil
}

// secrets are the values that must appear in nothing that the run leaves.
func (p Plan) secrets() []string {
	var out []string
	for _, pr := range p.Config.Providers {
		out = append(out, pr.Username.Reveal(), pr.Password.Reveal())
	}
	for _, j := range p.Jobs {
		out = append(out, j.Secrets...)
	}
	return out
}

// hash stands for what makes the run what it is, so that a folder is not resumed with other jobs. Secrets are
// left out of it.
func (p Plan) hash() string {
	jobs := make([]jobfile.Job, len(p.Jobs))
	copy(jobs, p.Jobs)
	for i := range jobs {
		jobs[i].Secrets = nil
		steps := make([]jobfile.Step, len(jobs[i].Steps))
		copy(steps, jobs[i].Steps)
		for k := range steps {
			if steps[k].Secret {
				steps[k].Value = ""
			}
		}
		jobs[i].Steps = steps
	}
	h := sha256.New()
	if err := json.NewEncoder(h).Encode([]any{p.Driver.Name(), jobs}); err != nil {
		return "" // a job is made of plain values
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

func paces(cfg config.Config) map[string]scheduler.Pace {
	out := map[string]scheduler.Pace{}
	for name, o := range cfg.Origins {
		out[name] = scheduler.Pace{PerSecond: o.PerSecond, Burst: o.Burst, Concurrency: o.Concurrency}
	}
	return out
}

func (p Plan) prices() map[string]report.Price {
	out := map[string]report.Price{}
	for _, pr := range p.Config.Providers {
		if pr.PricePerGB.Amount > 0 {
			out[pr.Name] = report.Price{PerGB: pr.PricePerGB.Amount, Currency: pr.PricePerGB.Currency}
		}
	}
	return out
}

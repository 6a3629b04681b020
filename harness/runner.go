package harness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/drivers"
	"github.com/limpet-dev/limpet/harness/gateway"
	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/report"
	"github.com/limpet-dev/limpet/harness/scheduler"
	"github.com/limpet-dev/limpet/harness/trace"
	"github.com/limpet-dev/limpet/identity"
)

// Config configures a Runner. Driver, Routes, Scheduler, Gateway, Classifier and Folder are required.
type Config struct {
	Driver     drivers.Driver
	Launch     drivers.LaunchOptions
	Routes     *Routes
	Scheduler  *scheduler.Scheduler
	Gateway    *gateway.Gateway
	Classifier *classify.Classifier
	Folder     *report.Folder
	Redactor   *trace.Redactor
	// Progress is told of every job that ends. Nil means that nobody watches.
	Progress report.Progress
	// Robots answers whether an address may be fetched; nil allows all.
	Robots *Robots
	// Concurrency is how many attempts run at a time. Zero means 2.
	Concurrency int
	// MaxJobs and MaxAge recycle a browser context, as identity.Config says. Zero means its defaults.
	MaxJobs int
	MaxAge  time.Duration
	// InterstitialWait is how long a page that promises to let a plain browser pass by itself may take. Zero
	// means 15 s: the slowest seen took 8.4 s on a busy machine.
	InterstitialWait time.Duration
	// Grace is what running attempts get to end by themselves after an interrupt. Zero means 10 s.
	Grace time.Duration
	// Abort ends the grace at once when it is closed. Nil means that nobody will.
	Abort <-chan struct{}
	// Logger receives the run's life. Nil drops it.
	Logger *slog.Logger
}

// A Runner works jobs in one browser on this machine. Run is called once.
type Runner struct {
	cfg     Config
	log     *slog.Logger
	browser *keeper
	broker  *identity.Broker
	ports   *ports
}

// Totals counts how a run's jobs ended. Accepted is always the sum of the others.
type Totals struct {
	Accepted, Useful, Failed, Denied, Review, Cancelled int
}

// New makes a Runner. Nothing is started before Run.
func New(cfg Config) (*Runner, error) {
	if cfg.Driver == nil || cfg.Routes == nil || cfg.Scheduler == nil || cfg.Gateway == nil || cfg.Classifier == nil || cfg.Folder == nil {
		return nil, errors.New("harness: Config needs Driver, Routes, Scheduler, Gateway, Classifier and Folder")
	}
	if cfg.Concurrency <= 0 {
		cfg.Concurrency = 2
	}
	if cfg.InterstitialWait == 0 {
		cfg.InterstitialWait = 15 * time.Second
	}
	if cfg.Grace == 0 {
		cfg.Grace = 10 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Progress == nil {
		cfg.Progress = report.NoProgress{}
	}
	if cfg.Redactor == nil {
		cfg.Redactor = trace.NewRedactor(nil)
	}
	r := &Runner{
		cfg: cfg, log: cfg.Logger,
		browser: &keeper{driver: cfg.Driver, launch: cfg.Launch, log: cfg.Logger},
		ports:   &ports{gw: cfg.Gateway, routes: cfg.Routes, sched: cfg.Scheduler, leases: map[string]scheduler.Lease{}},
	}
	var err error
	r.broker, err = identity.NewBroker(identity.Config{
		Open: r.browser.open, Bind: r.ports.Bind, MaxJobs: cfg.MaxJobs, MaxAge: cfg.MaxAge,
		OnEvent: r.sessionEvent, Logger: cfg.Logger,
	})
	return r, err
}

// Run works every job that the folder does not hold a result of, and returns when all have ended, their
// contexts are closed and the browser is gone. A ctx that is cancelled stops the admission of jobs; running
// attempts get Config.Grace. The error is nil when the run reached its end, however the jobs ended; otherwise
// a *StartError, or it wraps ErrInterrupted, ErrCredential or ErrEngineLost.
func (r *Runner) Run(ctx context.Context, jobs []jobfile.Job) (totals Totals, err error) {
	if _, err := r.browser.running(ctx); err != nil {
		return Totals{}, &StartError{Err: err}
	}
	defer func() { err = errors.Join(err, r.browser.close(ctx)) }()
	defer r.broker.Close(ctx)

	d := newDispatch(r, jobs)
	err = d.run(ctx)
	return d.totals, err
}

// guarded is an attempt whose panic costs its own job and nothing else.
func (r *Runner) guarded(ctx context.Context, t *task) (e ending) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		r.log.LogAttrs(ctx, slog.LevelError, "attempt panicked", slog.String("job", t.job.ID),
			slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		e = ending{task: t, state: report.Failed, err: fmt.Sprintf("internal error: %v; please report it with the log", p)}
	}()
	return r.attempt(ctx, t)
}

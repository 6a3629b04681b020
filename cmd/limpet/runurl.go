package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/limpet-dev/limpet/classify"
	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/report"
)

// runURL is the smallest use: one page by the direct exit, its records on stdout.
func (a *app) runURL(ctx context.Context, address string, selects []string, o jobfile.URLOptions, flags runFlags) error {
	job, err := jobfile.FromURL(address, selects, o)
	if err != nil {
		return &hintError{err: err, hint: "limpet run https://example.com --select title=h1 --select link=a@href"}
	}
	return a.one(ctx, job, flags, func(r report.Result, f *report.Folder) error {
		records, err := f.Records(1 << 20)
		if err != nil {
			return err
		}
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		for _, rec := range records {
			if err := enc.Encode(rec.Record); err != nil {
				return err
			}
		}
		if r.State != report.Useful {
			return a.whyNot(r)
		}
		return nil
	})
}

// classifyLive visits a page and prints the verdict on it.
func (a *app) classifyLive(ctx context.Context, address, marker string) error {
	if marker == "" {
		marker = "body" // any page that is no wall; without an expectation there would be no verdict but unknown
	}
	job, err := jobfile.FromURL(address, []string{"page=" + marker}, jobfile.URLOptions{Marker: marker})
	if err != nil {
		return &hintError{err: err, hint: "limpet classify https://example.com"}
	}
	job.Limits.Attempts = 1
	return a.one(ctx, job, runFlags{concurrency: "1"}, func(r report.Result, _ *report.Folder) error {
		a.code = exitUseful // the question was what it is, and that was answered
		if r.Verdict == nil {
			return a.whyNot(r)
		}
		return a.printJudgement(classify.Judgement{Verdict: *r.Verdict})
	})
}

// one runs a single job in a folder of its own that nobody asked to keep.
func (a *app) one(ctx context.Context, job jobfile.Job, flags runFlags, show func(report.Result, *report.Folder) error) error {
	cfg, err := a.loadConfig(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "limpet-run-*")
	if err != nil {
		return &hintError{err: err, hint: "make the temporary folder writable, or name another with TMPDIR"}
	}
	defer os.RemoveAll(dir)
	flags.out = filepath.Join(dir, "out")
	quiet := a.common.quiet
	a.common.quiet = true // one page needs no progress
	ex, err := a.start(ctx, cfg, []jobfile.Job{job}, nil, flags)
	a.common.quiet = quiet
	if err != nil {
		return err
	}
	defer ex.Folder.Close()
	results := ex.Folder.Results()
	if len(results) == 0 {
		return &hintError{err: errors.Join(errors.New("the page was not visited"), ex.Err), code: exitStopped}
	}
	return show(results[0], ex.Folder)
}

// whyNot says on stderr why a page gave nothing.
func (a *app) whyNot(r report.Result) error {
	if r.Verdict != nil {
		if _, err := io.WriteString(a.errs, classify.Explain(classify.Judgement{Verdict: *r.Verdict})); err != nil {
			return err
		}
	}
	return &hintError{err: errors.New(string(r.State) + ": " + string(r.Error)), code: a.code}
}

func printFile(w io.Writer, path string) error {
	b, err := os.ReadFile(path) //nolint:gosec // a file of our own output folder
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/limpet-dev/limpet/harness"
	"github.com/limpet-dev/limpet/harness/config"
	"github.com/limpet-dev/limpet/harness/jobfile"
	"github.com/limpet-dev/limpet/harness/strict"
)

func (a *app) validateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE...",
		Short: "Checks job files and the configuration; names every fault with its place and a hint",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &hintError{err: errors.New("no job file"), hint: "limpet validate jobs.yaml"}
			}
			cfg, cfgErr := a.loadConfig(cmd.Context())
			jobs, err := jobfile.Load(jobfile.Options{Files: args, Env: a.env})
			if err := errors.Join(cfgErr, err); err != nil {
				return err
			}
			if err := expressible(cfg, jobs); err != nil {
				return &hintError{err: err, hint: "name a provider or an exit that can do it in the configuration, or ask for less"}
			}
			if a.common.json {
				return json.NewEncoder(a.out).Encode(map[string]int{"jobs": len(jobs), "files": len(args)})
			}
			_, err = fmt.Fprintf(a.out, "%s in %s: no fault found\n", count(len(jobs), "job"), count(len(args), "file"))
			return err
		},
	}
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// loadConfig reads the configuration, and warns of what has no effect in this version.
func (a *app) loadConfig(ctx context.Context) (config.Config, error) {
	cfg, err := config.Load(ctx, config.Options{File: a.common.config, Env: a.env})
	if err != nil {
		return cfg, err
	}
	for _, key := range cfg.Ignored() {
		fmt.Fprintf(a.errs, "limpet: warning: %s has no effect in this version\n", key)
	}
	return cfg, nil
}

// renderFaults renders the faults of files with their source lines; false if err is of another kind.
func renderFaults(err error) (string, bool) {
	var all strict.Errors
	collect(err, &all)
	if len(all) == 0 {
		return "", false
	}
	return all.Render(), true
}

// collect finds the faults in a tree of joined errors.
func collect(err error, into *strict.Errors) {
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case nil:
	case strict.Errors:
		*into = append(*into, e...)
	case *strict.Fault:
		*into = append(*into, e)
	case interface{ Unwrap() []error }:
		for _, sub := range e.Unwrap() {
			collect(sub, into)
		}
	case interface{ Unwrap() error }:
		collect(e.Unwrap(), into)
	}
}

// expressible checks the jobs' intents against the configured ways out. Without a configuration there is nothing
// to check them against: job files are often written on another machine than they run on.
func expressible(cfg config.Config, jobs []jobfile.Job) error {
	if cfg.File == "" {
		return nil
	}
	return harness.Expressible(cfg, jobs)
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/limpet-dev/limpet/examples"
	"github.com/limpet-dev/limpet/fixtures"
	"github.com/limpet-dev/limpet/harness/config"
	"github.com/limpet-dev/limpet/harness/jobfile"
)

func (a *app) demoCommand() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Starts the fixtures and runs the shop example against them; needs no account and no configuration",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if a.common.config != "" {
				return &hintError{err: errors.New("demo takes no --config: it makes its own"), hint: "limpet run --config FILE JOBS runs your own"}
			}
			set, err := fixtures.Start(cmd.Context(), fixtures.Config{})
			if err != nil {
				return fixtureHint(err)
			}
			defer func() { err = errors.Join(err, set.Close()) }()
			dir, err := os.MkdirTemp("", "limpet-demo-*")
			if err != nil {
				return &hintError{err: err, hint: "make the temporary folder writable, or name another with TMPDIR"}
			}
			defer os.RemoveAll(dir)
			return a.demo(cmd, set, dir, flags)
		},
	}
	flags.register(cmd)
	return cmd
}

func (a *app) demo(cmd *cobra.Command, set *fixtures.Set, dir string, flags runFlags) error {
	files, err := set.WriteFiles(dir)
	if err != nil {
		return err
	}
	shop := filepath.Join(dir, "shop.yaml")
	if err := os.WriteFile(shop, examples.Shop, 0o600); err != nil {
		return err
	}
	cfg, err := config.Load(cmd.Context(), config.Options{File: files.Config, Env: a.env})
	if err != nil {
		return err
	}
	p := set.Config()
	env := func(name string) (string, bool) {
		switch name {
		case "SHOP_USER":
			return p.ShopUser, true
		case "SHOP_PASS":
			return p.ShopPass, true
		default:
			return a.env(name)
		}
	}
	jobs, err := jobfile.Load(jobfile.Options{Files: []string{shop}, Env: env})
	if err != nil {
		return err
	}
	if !a.common.quiet {
		fmt.Fprintf(a.errs, "%d jobs of examples/shop.yaml, against a shop and a provider on loopback, into %s\n", len(jobs), flags.out)
	}
	return a.execute(cmd.Context(), cfg, jobs, []string{"examples/shop.yaml"}, flags)
}

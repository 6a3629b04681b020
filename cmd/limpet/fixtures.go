package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/limpet-dev/limpet/fixtures"
)

// fixturesDir is where limpet fixtures leaves the configuration that leads to its servers.
const fixturesDir = ".limpet/fixtures"

func (a *app) fixturesCommand() *cobra.Command {
	var conf fixtures.Config
	var dir string
	cmd := &cobra.Command{
		Use:   "fixtures",
		Short: "Serves a shop that misbehaves and a provider that sells exits, until interrupted",
		Long: "Serves both on loopback, prints their addresses, and leaves a configuration that leads to them in --dir,\n" +
			"so that job files run against them from another terminal.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := fixtures.Start(cmd.Context(), conf)
			if err != nil {
				return fixtureHint(err)
			}
			files, err := set.WriteFiles(dir)
			if err != nil {
				return errors.Join(&hintError{err: err, hint: "name a folder you may write to with --dir"}, set.Close())
			}
			p := set.Config()
			fmt.Fprintf(a.out, "shop      http://%s  https://%s\nprovider  http://%s\nconfig    %s\n", p.ShopPlainAddr, p.ShopTLSAddr, p.ProviderAddr, files.Config)
			fmt.Fprintf(a.errs, "try: . %s && limpet run --config %s examples/shop.yaml\nCtrl-C stops the servers\n", files.Env, files.Config)
			select {
			case <-a.signals:
			case <-cmd.Context().Done():
			}
			return set.Close()
		},
	}
	f := cmd.Flags()
	f.StringVar(&conf.ShopPlainAddr, "shop-listen", "", "`host:port` of the plain shop (default: any free port on loopback)")
	f.StringVar(&conf.ShopTLSAddr, "shop-tls-listen", "", "`host:port` of the shop over TLS")
	f.StringVar(&conf.ProviderAddr, "provider-listen", "", "`host:port` of the provider")
	f.StringVar(&dir, "dir", fixturesDir, "`folder` for the configuration that leads to the servers")
	return cmd
}

// fixtureHint says what to do about servers that do not start.
func fixtureHint(err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return &hintError{err: err, hint: "another program listens there: give another port, or none to take any that is free"}
	}
	return &hintError{err: err, hint: "give addresses of this machine's loopback, such as 127.0.0.1:8080"}
}

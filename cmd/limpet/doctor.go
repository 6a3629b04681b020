package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/limpet-dev/limpet/harness"
	"github.com/limpet-dev/limpet/harness/config"
	"github.com/limpet-dev/limpet/harness/doctor"
)

func (a *app) doctorCommand() *cobra.Command {
	var driver string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Checks browser, drivers, sandbox, shared memory, file descriptors, clock and configuration",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.loadConfig(cmd.Context())
			if err != nil {
				return err
			}
			var findings []doctor.Finding
			for _, name := range driverNames {
				if driver != "" && driver != name {
					continue
				}
				d, err := newDriver(name, cfg)
				if err != nil {
					return err
				}
				launch, err := launchOptions(cfg, a.logger(nil))
				if err != nil {
					return err
				}
				found := doctor.Check(cmd.Context(), doctor.Options{Driver: d, Launch: launch})
				if driver == "" && name != cfg.Browser.Driver && found[0].Level == doctor.Bad {
					found[0].Level = doctor.Warn // jobs run with the other one
				}
				if len(findings) > 0 {
					found = found[:1] // the rest is about the machine and was said already
				}
				findings = append(findings, found...)
			}
			if driver != "" && len(findings) == 0 {
				_, err := newDriver(driver, cfg)
				return err
			}
			findings = append(findings, a.configFinding(cfg))
			return a.printFindings(findings)
		},
	}
	cmd.Flags().StringVar(&driver, "driver", "", "only this driver: chromedp or playwright")
	return cmd
}

func (a *app) printFindings(findings []doctor.Finding) error {
	for _, f := range findings {
		if f.Level == doctor.Bad {
			a.code = exitFailed
		}
	}
	if a.common.json {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", "  ")
		return enc.Encode(findings)
	}
	for _, f := range findings {
		fmt.Fprintf(a.out, "%-5s %-22s %s\n", f.Level, f.Check, f.Found)
		if f.Fix != "" {
			fmt.Fprintf(a.out, "      %-22s -> %s\n", "", f.Fix)
		}
	}
	return nil
}

// configFinding says what the configuration offers: it was read without a fault, or doctor had not come so far.
func (a *app) configFinding(cfg config.Config) doctor.Finding {
	f := doctor.Finding{Check: "configuration", Level: doctor.OK, Found: "none: one exit, this machine's own address"}
	if cfg.File != "" {
		f.Found = fmt.Sprintf("%s: %d providers, %d exits", cfg.File, len(cfg.Providers), len(cfg.Exits))
	}
	if _, err := harness.RoutesOf(cfg); err != nil {
		f.Level, f.Found, f.Fix = doctor.Bad, err.Error(), "put the configuration right; limpet validate names the place"
	}
	return f
}

package main

import (
	_ "embed" // for firstJobs
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/limpet-dev/limpet/harness/jobfile"
)

// What init writes, and the schema that the first line of it names.
const (
	firstFile  = "jobs.yaml"
	schemaFile = "limpet-job.schema.json"
)

//go:embed first.yaml
var firstJobs []byte

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Writes a first job file, " + firstFile + ", and the schema that editors check it by",
		Long: "Writes " + firstFile + " and " + schemaFile + " into this folder. Nothing that is there already is overwritten.\n" +
			"Editors with a YAML language server then complete keys and mark faults.",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := writeNew(firstFile, firstJobs); err != nil {
				return err
			}
			// A schema that is there already is one of ours, or the user's own business.
			if err := writeNew(schemaFile, jobfile.Schema()); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			_, err := fmt.Fprintf(a.out, "%s    three pages of a shop: put your own site, marker and fields in\n%s    for your editor\n\n"+
				"next:\n"+
				"  limpet validate %[1]s    every fault with its line\n"+
				"  limpet run %[1]s         records, results and a report in out/\n"+
				"  limpet demo                 the same against a shop of ours, with nothing to fill in\n", firstFile, schemaFile)
			return err
		},
	}
}

// writeNew writes a file that must not be there.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a job file is for everybody to read
	if errors.Is(err, fs.ErrExist) {
		return &hintError{
			err:  fmt.Errorf("%s is here already, and is left as it is: %w", name, fs.ErrExist),
			hint: "remove it or go to another folder; limpet validate " + name + " checks it",
		}
	}
	if err != nil {
		return &hintError{err: fmt.Errorf("%s not written: %w", name, err), hint: "go to a folder that you may write to"}
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

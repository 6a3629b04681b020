package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/limpet-dev/limpet/harness/config"
	"github.com/limpet-dev/limpet/harness/jobfile"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "schema job|config",
		Short:     "The JSON Schema of job files or of the configuration",
		ValidArgs: []string{"job", "config"},
		Args:      oneArg("job or config"),
		RunE: func(_ *cobra.Command, args []string) error {
			var schema []byte
			switch args[0] {
			case "job":
				schema = jobfile.Schema()
			case "config":
				schema = config.Schema()
			default:
				return &hintError{err: fmt.Errorf("there is no schema %q", args[0]), hint: "limpet schema job, or limpet schema config"}
			}
			_, err := a.out.Write(schema)
			return err
		},
	}
}

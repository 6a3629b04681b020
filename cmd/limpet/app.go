package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/limpet-dev/limpet/harness/telemetry"
)

// The exit codes of contracts.md.
const (
	exitUseful  = 0
	exitFailed  = 1
	exitUsage   = 2
	exitReview  = 3
	exitStopped = 4
	exitSIGINT  = 130
	exitSIGTERM = 143
)

// app is the process as the subcommands see it.
type app struct {
	env     func(string) (string, bool)
	in      io.Reader
	out     io.Writer // results
	errs    io.Writer // everything else
	signals <-chan os.Signal

	common commonFlags
	code   int // exit code of a command that ran to its end
}

// commonFlags are those that every command takes.
type commonFlags struct {
	config  string
	json    bool
	quiet   bool
	verbose bool
	noColor bool
}

// A hintError is an error with what to do about it.
type hintError struct {
	err  error
	hint string
	code int // exit code; zero means exitUsage
}

// Error is the cause's text.
func (e *hintError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *hintError) Unwrap() error { return e.err }

// run parses args, runs the command and answers its exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root() //nolint:contextcheck // cobra hands the context to the commands
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.errs)
	if err := root.ExecuteContext(ctx); err != nil {
		return a.fail(err)
	}
	return a.code
}

// fail prints an error in the form of the house and answers the exit code.
func (a *app) fail(err error) int {
	if text, ok := renderFaults(err); ok {
		fmt.Fprint(a.errs, text)
		return exitUsage
	}
	fmt.Fprintf(a.errs, "limpet: error: %v\n", err)
	hint, ok := errors.AsType[*hintError](err)
	if !ok {
		fmt.Fprintln(a.errs, "limpet: hint: limpet --help lists the commands")
		return exitUsage
	}
	if hint.hint != "" {
		fmt.Fprintf(a.errs, "limpet: hint: %s\n", hint.hint)
	}
	if hint.code != 0 {
		return hint.code
	}
	return exitUsage
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "limpet",
		Short: "Runs browser jobs as many identities, each from its own exit",
		Long: "Limpet gives each identity one browser context on one sticky exit, judges every page from what it shows,\n" +
			"and says exactly why a job did not succeed. It detects walls, stops and reports; it never gets round one.",
		SilenceErrors: true, SilenceUsage: true,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := root.PersistentFlags()
	f.StringVar(&a.common.config, "config", "", "configuration `file` (default limpet.yaml, if it is there)")
	f.BoolVar(&a.common.json, "json", false, "results as JSON on stdout")
	f.BoolVarP(&a.common.quiet, "quiet", "q", false, "only results and errors")
	f.BoolVarP(&a.common.verbose, "verbose", "v", false, "also what happens inside")
	f.BoolVar(&a.common.noColor, "no-color", false, "no colour, as with NO_COLOR")
	root.SetFlagErrorFunc(flagError)
	group(root, "Work:", a.initCommand(), a.validateCommand(), a.runCommand(), a.classifyCommand())
	group(root, "Try it:", a.demoCommand(), a.fixturesCommand())
	root.AddCommand(a.doctorCommand(), a.schemaCommand())
	completion(root)
	return root
}

// group adds commands under a title of the help.
func group(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// logger writes to stderr: warnings, with --verbose everything, with --quiet errors alone.
func (a *app) logger(redact func(string) string) *slog.Logger {
	level := slog.LevelWarn
	switch {
	case a.common.quiet:
		level = slog.LevelError
	case a.common.verbose:
		level = slog.LevelDebug
	}
	return telemetry.NewLogger(a.errs, level, redact)
}

// colour reports whether w may be coloured.
func (a *app) colour(w io.Writer) bool {
	if _, off := a.env("NO_COLOR"); off || a.common.noColor {
		return false
	}
	return a.terminal(w)
}

// terminal reports whether w is a terminal that moves its cursor.
func (a *app) terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return false
	}
	t, set := a.env("TERM")
	_, ci := a.env("CI")
	return set && t != "" && t != "dumb" && !ci
}

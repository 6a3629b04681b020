package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/limpet-dev/limpet/harness/strict"
)

// oneArg wants exactly one argument and says which.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return &hintError{
			err:  fmt.Errorf("%s takes one argument, %s, and got %d", cmd.Name(), what, len(args)),
			hint: cmd.CommandPath() + " --help says more",
		}
	}
}

// noArgs wants no argument.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &hintError{
		err:  fmt.Errorf("%s takes no argument, and got %q", cmd.Name(), args[0]),
		hint: cmd.CommandPath() + " --help lists its flags",
	}
}

// knownCommand is for the root and for completion, whose first argument is always a command.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help lists the commands"
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	if near := strict.Nearest(args[0], known); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return &hintError{err: fmt.Errorf("there is no command %q", strings.TrimSpace(cmd.CommandPath()+" "+args[0])), hint: hint}
}

// flagError says what is wrong with a flag in words of the command line instead of Go's.
func flagError(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help lists its flags"
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		err = fmt.Errorf("--%s %q is not right: it takes %s", e.GetFlag().Name, e.GetValue(), valueName(e.GetFlag()))
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedShortnames() == "" {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		err = fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), e.GetSpecifiedName())
		if near := strict.Nearest(e.GetSpecifiedName(), known); near != "" {
			hint = fmt.Sprintf("did you mean --%s? %s", near, hint)
		}
	}
	return &hintError{err: err, hint: hint}
}

func valueName(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "bool":
		return "true or false"
	default:
		return "text"
	}
}

// completion is cobra's own command, which would answer an unknown shell with its help and success.
func completion(root *cobra.Command) {
	root.InitDefaultCompletionCmd("completion")
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Short = "Prints the completion script of a shell: bash, zsh, fish or powershell"
		c.Args = knownCommand
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
}

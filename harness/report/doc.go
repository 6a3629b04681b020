// Package report keeps what a run leaves: the output folder with its records, results and events, the summary
// and the page about it, and what is shown on the terminal while it runs and at its end.
package report

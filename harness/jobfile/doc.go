// Package jobfile reads job files into jobs, with every fault at its line and column.
package jobfile

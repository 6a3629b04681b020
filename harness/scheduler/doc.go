// Package scheduler decides which exit an identity leaves by, when, and what a failure means.
package scheduler

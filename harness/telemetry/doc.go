// Package telemetry names what Limpet says about itself: the attributes of its log lines.
package telemetry

// Package config reads limpet.yaml, the configuration of one installation, with every fault at its line and column.
package config

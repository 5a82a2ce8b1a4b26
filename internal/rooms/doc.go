// Package rooms holds no code. Its test keeps the rules by which the packages
// of this module import each other: docs/architecture.md draws them.
package rooms

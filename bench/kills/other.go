//go:build !linux

// Command kills needs network namespaces, which only Linux has.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "kills: it needs network namespaces, which only Linux has")
	os.Exit(1)
}

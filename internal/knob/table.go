package knob

// knobs is the table. A new knob is a row here, one in package spec and a file.
var knobs = []knob{}

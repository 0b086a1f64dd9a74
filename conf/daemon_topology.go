package conf

import "strings"

const (
	topologyScript = "net.topology.script.file.name"
	topologyTable  = "net.topology.table.file.name"
	topologyClass  = "net.topology.node.switch.mapping.impl"
)

// topology reads how hosts are dealt to racks: by a script or by a table.
func (l *loader) topology(ps *properties, d *Daemon) {
	script, by := ps.given(topologyScript)
	table, at := ps.given(topologyTable)
	class, p := ps.given(topologyClass)
	switch class[strings.LastIndex(class, ".")+1:] {
	case "", "ScriptBasedMapping":
		if by != nil {
			d.TopologyScript = beside(by.file, script)
		}
		if at != nil {
			ps.log.note(Remark, at.file, at.line, at.name, "is not read: %s does not name TableMapping", topologyClass)
		}
	case "TableMapping":
		if at == nil {
			ps.bad(p, "asks for a table of racks; %s must name it", topologyTable)
			return
		}
		d.TopologyTable = l.racks(beside(at.file, table), at)
	default:
		ps.log.note(Unsupported, p.file, p.line, p.name, "there is no mapping %s here; there are ScriptBasedMapping and TableMapping, and every host is in /default-rack", class)
	}
}

// racks reads a table of racks: a host, by its address or name, and its rack a line.
func (l *loader) racks(path string, p *property) map[string]string {
	data, err := l.open(path)
	switch {
	case err != nil:
		l.log.fail(p.file, p.line, p.name, "the table of racks cannot be read: %v", err)
		return nil
	case len(data) > maxFileBytes:
		l.log.fail(p.file, p.line, p.name, "%s is larger than the %d bytes a table of racks may have", path, maxFileBytes)
		return nil
	}
	table := map[string]string{}
	n, odd, first := 0, 0, 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		switch {
		case len(fields) != 2:
			if odd++; odd == 1 {
				first = n
			}
		case !strings.HasPrefix(fields[1], "/"):
			l.log.fail(path, n, "", "%.80q is not a host and a rack; expected two words, such as node7 /rack2", line)
		default:
			table[fields[0]] = fields[1]
		}
	}
	if odd > 0 {
		l.log.note(Remark, path, first, "", "is not a host and a rack, such as node7 /rack2, and is ignored: one of %d such lines", odd)
	}
	return table
}

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"heddle/daemon/setup"
	"heddle/daemon/store"
	"heddle/internal/plain"
)

func newStore(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:   "store",
		Short: "Check, copy and repair the store of a ResourceManager",
		Long: `Check, copy and repair the file in which a ResourceManager keeps what it needs after a restart. Only backup works
while it runs. For the other commands, stop it: its nodes and applications continue meanwhile, and it finds them
again.`,
	}, newStoreCheck(a), newStoreBackup(a), newStoreExport(a), newStoreRepair(a))
}

// storeFlags say which file a command is about.
type storeFlags struct{ setup.Options }

func (f *storeFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.Data, "data", "", "state of heddle rm in `DIR` (default: as for heddle rm)")
	fs.StringVar(&f.ConfDir, "conf", "", "configuration of heddle rm in `DIR` (default: $HADOOP_CONF_DIR)")
	must(cmd.MarkFlagDirname("data"))
	must(cmd.MarkFlagDirname("conf"))
}

// fileOrNone accepts one FILE or none.
func fileOrNone(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("%s takes one FILE or none; got %s", cmd.CommandPath(), howMany(args))
	}
	return nil
}

// path returns the named file, or that of the ResourceManager.
func (f *storeFlags) path(named []string) (string, error) {
	if len(named) > 0 {
		if f.Data != "" || f.ConfDir != "" {
			return "", usagef("%s names the store, and so do --data and --conf; want only one of them", named[0])
		}
		return named[0], nil
	}
	dir, err := setup.DataDir(f.Options)
	return filepath.Join(dir, store.FileName), err
}

func newStoreCheck(a *app) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "check [FILE] [flags]",
		Short: "Show what a store contains, and what is damaged",
		Long: `Show how many records a store contains, which of its pages are damaged and which records are lost with
them. It reads every record and changes nothing. The exit code is 1 if anything is damaged.`,
		Example: "  heddle store check --conf /etc/hadoop/conf\n  heddle store check rm.db.copy",
		Args:    fileOrNone,
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := f.path(args)
			if err != nil {
				return err
			}
			r, err := store.Check(path)
			if err != nil {
				return failure{err}
			}
			if _, err := io.WriteString(a.out, told(r)); err != nil {
				return wrote(err)
			}
			if !r.Whole() {
				return failure{fmt.Errorf("%s is damaged; the next start of heddle rm uses what is left, unless the file is cut off or both of its first pages are damaged; heddle store repair makes a new store of what is left", path)}
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

func newStoreBackup(a *app) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "backup TO [flags]",
		Short: "Copy an undamaged store",
		Long: `Copy the store to a new file that no other user can read, because it contains secrets. A running ResourceManager
makes the copy itself, for anyone who has access to its folder. A damaged store is not copied. To go back to a
copy, stop the ResourceManager and put the copy in place of rm.db. Applications that were submitted after the
copy was made are then unknown. The copy is marked, so that the first start from it gives containers and attempts
no numbers that have been used since.`,
		Example: "  heddle store backup /backup/rm.db",
		Args:    exactly("TO"),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := f.path(nil)
			if err != nil {
				return err
			}
			over := removes(store.PartOf(args[0]), args[0])
			r, err := store.Backup(path, args[0])
			over()
			if err != nil {
				return failure{err}
			}
			_, err = fmt.Fprintf(a.out, "%s is a copy of %s: %s\n", args[0], path, held(r))
			return wrote(err)
		},
	}
	f.add(cmd)
	return cmd
}

func newStoreExport(a *app) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "export [FILE] [flags]",
		Short: "Print the records of a store as JSON",
		Long: `Print all records of a store that can be read, one a line, as JSON. Secrets are left out: the keys of tokens,
and the submissions as their clients sent them. A record that cannot be read is a line with "lost".`,
		Example: "  heddle store export | jq 'select(.bucket == \"apps\") | .record.User'",
		Args:    fileOrNone,
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := f.path(args)
			if err != nil {
				return err
			}
			r, err := store.Export(path, a.out)
			if err != nil {
				return failure{err}
			}
			if !r.Whole() {
				return failure{fmt.Errorf("%s is damaged; heddle store check shows where", path)}
			}
			return nil
		},
	}
	f.add(cmd)
	return cmd
}

func newStoreRepair(a *app) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "repair [FILE] [flags]",
		Short: "Make a new store of what can be read of a damaged one",
		Long: `Make a new store of all records that can be read of a damaged one, and put it in its place. The damaged file is
kept beside it, with damaged-1 or a higher number in its name. What is lost is printed. An undamaged store
stays as it is. heddle rm does the same when it starts, if a page other than the first two is damaged. It does
without single records that are damaged, and leaves them where they are. It does not start if the file is cut off
or both of its first pages are damaged: then it is not certain which state was the last, and a copy may be better.`,
		Example: "  heddle store repair --data /var/lib/heddle",
		Args:    fileOrNone,
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := f.path(args)
			if err != nil {
				return err
			}
			r, err := store.Repair(path)
			if err != nil {
				return failure{err}
			}
			text := told(r)
			if r.Kept != "" {
				text += fmt.Sprintf("%s is a new store of these records; the damaged file is %s\n", path, r.Kept)
			}
			_, err = io.WriteString(a.out, text)
			return wrote(err)
		},
	}
	f.add(cmd)
	return cmd
}

// told describes a store.
func told(r *store.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", r.Path, held(r))
	for _, d := range r.Damage {
		fmt.Fprintf(&b, "damaged: page %d: %s\n", d.Page, d.Reason)
	}
	if r.Older {
		b.WriteString("damaged: the record of the last commit; the data may be that of the commit before\n")
	}
	for _, l := range r.Lost {
		name := l.Bucket
		if l.Key != "" {
			name += " " + l.Key
		}
		fmt.Fprintf(&b, "lost: %s: %s\n", name, l.Reason)
	}
	if r.Whole() {
		b.WriteString("nothing is damaged\n")
	}
	return plain.Lines(b.String()) // keys contain names and users
}

// held says how many records a store has.
func held(r *store.Report) string {
	var out []string
	for _, x := range []struct{ bucket, one string }{{"apps", "application"}, {"attempts", "attempt"}, {"runs", "last run"}} {
		out = append(out, plural(r.Records[x.bucket], x.one))
	}
	starts := "starts not known"
	if n, ok := r.Starts(); ok {
		starts = plural(int(n), "start")
	}
	return strings.Join(append(out, starts), ", ")
}

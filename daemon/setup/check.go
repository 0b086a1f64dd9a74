package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"heddle/conf"
	"heddle/daemon"
)

// Check reads a Hadoop configuration folder, or one of its files, and reports the result. wrong is what a
// ResourceManager finds wrong with the folder's heddle.yaml next to those files, on any machine: Check looks up no
// hosts and assumes enough memory. The last error says why the folder cannot be read at all.
func Check(path string) (r *conf.Report, wrong, err error) {
	if info, e := os.Stat(path); e == nil && info.Mode().IsRegular() && filepath.Base(path) == FileName {
		return nil, nil, fmt.Errorf("%s is checked with the files beside it; name the folder, %s", path, filepath.Dir(path))
	}
	own := filepath.Join(path, FileName)
	f, wrong := readFile(own)
	none := errors.Is(wrong, fs.ErrNotExist) || errors.Is(wrong, syscall.ENOTDIR)
	r, err = conf.CheckFile(path)
	bare := errors.Is(err, conf.ErrNoFiles) && !none
	if bare { // use Hadoop's defaults
		r, err = &conf.Report{Path: path, Hadoop: conf.Bare()}, nil
	}
	switch {
	case none || err != nil:
		return r, nil, err
	case wrong != nil:
		return r, wrong, nil
	}
	r.Profile = f.Profile != ""
	s := &source{Options: Options{ConfDir: path, File: own}, hadoop: r.Hadoop, file: f}
	if !r.OK() {
		return r, s.checkAlone(), nil
	}
	s.had = found{!bare, r.Hadoop.Capacity != nil, r.Hadoop.Fair != nil}
	s.hadoop = s.hadoop.Complete()
	return r, s.check(), nil
}

// enough is more memory than any heddle.yaml asks for, in bytes.
const enough = 1 << 50

// checkAlone checks the settings of heddle.yaml that do not depend on other files.
func (s *source) checkAlone() error {
	if err := s.checkListen(); err != nil {
		return err
	}
	return s.memory(&daemon.Config{}, enough)
}

// check checks all settings.
func (s *source) check() error {
	if err := s.checkAlone(); err != nil {
		return err
	}
	if _, err := s.config(enough); err != nil {
		return err
	}
	if s.hadoop.Daemon.NoScheduler != nil && s.file.Profile == "" {
		return nil // the error is in Hadoop's files
	}
	_, _, err := s.scheduler(newGroups(nil))
	return err
}

package report

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// explain says what an error of the file system means for the folder and what to do about it.
func explain(dir string, err error) error {
	if err == nil {
		return nil
	}
	_, other := errors.AsType[*OtherRunError](err)
	_, used := errors.AsType[*InUseError](err)
	switch {
	case other, used:
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("output folder %s: no space left: free some, then run again with the same --out to resume: %w", dir, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("output folder %s cannot be written: name another with --out, or change its permissions: %w", dir, err)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		return fmt.Errorf("output folder %s is no folder: name another with --out: %w", dir, err)
	default:
		return fmt.Errorf("output folder %s: %w", dir, err)
	}
}

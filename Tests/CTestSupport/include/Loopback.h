// SPDX-License-Identifier: MIT

#ifndef LOOPBACK_H
#define LOOPBACK_H

/// The next connection, not inherited by programs that are started meanwhile; negative when there will be none, because
/// the other end of `stop` has been closed.
int loopback_accept(int listener, int stop);

/// A pipe that programs do not inherit: the end to read from, then the other one. Not 0 if there is none left.
int loopback_pipe(int ends[2]);

/// Waits until the peer of a connection has ended its stream, also behind bytes that nobody reads: not 0 then, and 0
/// after so many milliseconds. With a negative number it waits for ever.
int loopback_wait_for_end(int connection, int milliseconds);

#endif

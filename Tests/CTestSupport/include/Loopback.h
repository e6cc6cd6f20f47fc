// SPDX-License-Identifier: MIT

#ifndef LOOPBACK_H
#define LOOPBACK_H

/// The next connection, not inherited by programs that are started meanwhile; negative when there will be none.
int loopback_accept(int listener);

#endif

// SPDX-License-Identifier: MIT

#ifndef CTRUST_H
#define CTRUST_H

/// Lets URLSession on Linux trust the file that the environment variable SSL_CERT_FILE names, from now on.
void ctrust_begin(void);

#endif

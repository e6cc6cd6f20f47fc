// SPDX-License-Identifier: MIT
//
// The functions of the system's zlib that Curlew uses. This header does not include that of zlib, whose calls are
// partly macros and whose module has another name on each system.

#ifndef CURLEW_CZLIB_H
#define CURLEW_CZLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A compressor or a decompressor of raw deflate (RFC 1951). One thread at a time may use it.
typedef struct curlew_zlib curlew_zlib;

/// Creates a compressor or a decompressor with a window of 8 to 15 bits. With 8 bits, a compressor finds no
/// repetitions. Returns NULL if memory is exhausted.
curlew_zlib *curlew_zlib_create(bool deflates, int bits);

/// Converts bytes from `input` into `output`, and sets `taken` and `written` to how many. At most UINT_MAX bytes of
/// each count. Returns 1 if a compressor has taken `input` and written all due output, or if a decompressor has come to
/// the end of the stream; 0 if there may be more; -1 if the input is not valid or zlib failed.
int curlew_zlib_run(
    curlew_zlib *zlib, const uint8_t *input, size_t length, size_t *taken, uint8_t *output, size_t room,
    size_t *written);

/// Returns whether the last call of `curlew_zlib_run` ended after a block, at the end of a byte.
bool curlew_zlib_is_between_blocks(const curlew_zlib *zlib);

/// Forgets the window.
void curlew_zlib_reset(curlew_zlib *zlib);

/// Releases a compressor or decompressor.
void curlew_zlib_free(curlew_zlib *zlib);

#endif
